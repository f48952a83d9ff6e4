// CRC-32C (Castagnoli; RFC 3720, B.4), and the masked form that TFRecord files hold. A table of one byte: no
// packaged library has it, and the files are bound by other work.
#pragma once

#include <cstdint>
#include <string_view>

namespace podium::cli {

std::uint32_t crc32c(std::string_view bytes);

// Rotated and offset, so that the sum of data that holds sums is not weak.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace podium::cli
