#include "common/net/zstd.h"

#include <zstd.h>

#include <memory>
#include <new>

namespace podium {
namespace {

Error malformed(const std::string& why) {
  return {ErrorCode::invalid, "the body is not valid zstd: " + why, ""};
}

}  // namespace

std::string zstd_compress(std::string_view plain, int level) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), level);
  PODIUM_CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

Result<std::string> zstd_decompress(std::string_view packed, std::size_t limit) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  std::string plain;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t left = 1;  // 0 exactly at the end of a frame
  while (in.pos < in.size) {
    const std::size_t used = plain.size();
    plain.resize(used + ZSTD_DStreamOutSize());
    ZSTD_outBuffer out{plain.data() + used, plain.size() - used, 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left)) return malformed(ZSTD_getErrorName(left));
    plain.resize(used + out.pos);
    if (plain.size() > limit)
      return Error{ErrorCode::too_large,
                   "the unpacked body is larger than " + std::to_string(limit) + " bytes", ""};
  }
  if (left != 0) return malformed("it ends in the middle of a frame");
  return plain;
}

}  // namespace podium
