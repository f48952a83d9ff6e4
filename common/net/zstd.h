// Zstandard for request bodies. Unpacking is bounded: a few bytes can claim to hold gigabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

// With a checksum of the content, which unpacking verifies.
std::string zstd_compress(std::string_view plain, int level = 1);

// `too_large` when the content is more than `limit` bytes, `invalid` when it is not zstd.
Result<std::string> zstd_decompress(std::string_view packed, std::size_t limit);

}  // namespace podium
