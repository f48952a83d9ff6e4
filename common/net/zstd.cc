#include "common/net/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

namespace podium {
namespace {

// What zstd itself takes without being asked.
constexpr int kSmallestWindowLog = 10;
constexpr int kLargestWindowLog = 27;

Error malformed(const std::string& why) {
  return {ErrorCode::invalid, "the body is not valid zstd: " + why, ""};
}

Error larger_than(std::size_t limit) {
  return {ErrorCode::too_large, "the unpacked body is larger than " + std::to_string(limit) + " bytes", ""};
}

// Of the smallest window that holds `bytes`.
int window_log(std::size_t bytes) {
  const int log = static_cast<int>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1));
  return std::clamp(log, kSmallestWindowLog, kLargestWindowLog);
}

}  // namespace

std::string zstd_compress(std::string_view plain, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), plain.data(), plain.size());
  PODIUM_CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

Result<std::string> zstd_decompress(std::string_view packed, std::size_t limit) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  // A frame may ask for a window of 128 MiB before it holds anything: none has to be larger than the content.
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, window_log(limit));
  std::string plain;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t left = 1;  // 0 exactly at the end of a frame
  while (in.pos < in.size) {
    const std::size_t used = plain.size();
    plain.resize(used + ZSTD_DStreamOutSize());
    ZSTD_outBuffer out{plain.data() + used, plain.size() - used, 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
      return larger_than(limit);
    if (ZSTD_isError(left)) return malformed(ZSTD_getErrorName(left));
    plain.resize(used + out.pos);
    if (plain.size() > limit) return larger_than(limit);
  }
  if (left != 0) return malformed("it ends in the middle of a frame");
  return plain;
}

}  // namespace podium
