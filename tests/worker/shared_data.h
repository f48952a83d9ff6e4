// Reference data that lies beside the checkout and is never copied into it. Tests that need it skip where it
// is absent.
#pragma once

#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/check.h"
#include "common/base/file.h"
#include "tests/paths.h"

namespace podium {

inline std::optional<std::filesystem::path> shared_data(const std::string& name) {
  const char* folder = std::getenv("PODIUM_SHARED_DATA");
  const std::filesystem::path root = folder ? folder : test::source_path("../shared/data");
  if (!std::filesystem::exists(root / name)) return std::nullopt;
  return root / name;
}

inline std::string read_zstd(const std::filesystem::path& path) {
  const std::string packed = read_file(path);
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::string text;
  std::string block(1 << 20, '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    PODIUM_CHECK(!ZSTD_isError(ZSTD_decompressStream(stream.get(), &out, &in)),
                 "cannot unpack " + path.string());
    text.append(block, 0, out.pos);
  }
  return text;
}

}  // namespace podium
