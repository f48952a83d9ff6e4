#include "cli/curves/crc32c.h"

#include <array>
#include <bit>

namespace podium::cli {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
constexpr std::uint32_t kMaskOffset = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    table[byte] = sum;
  }
  return table;
}

constexpr auto kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = ~0U;
  for (const char c : bytes) sum = (sum >> 8) ^ kTable[(sum ^ static_cast<unsigned char>(c)) & 0xff];
  return ~sum;
}

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + kMaskOffset; }

}  // namespace podium::cli
