// Reads and writes the bytes of packed columns. A reader that meets damage stays damaged and returns zeros,
// so callers check it once, at the end. They must bound every count before they use it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace podium {

static_assert(std::endian::native == std::endian::little, "packed words are little-endian");

// Maps small magnitudes of either sign to small numbers: 0, -1, 1, -2, … become 0, 1, 2, 3, …
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// Seven bits a byte, the lowest first.
void put_varint(std::string& out, std::uint64_t value);
constexpr int varint_size(std::uint64_t value) { return (std::bit_width(value | 1) + 6) / 7; }

void put_word(std::string& out, std::uint64_t value);  // 8 bytes

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint64_t varint();
  std::uint64_t word();
  std::string_view take(std::size_t size);

  void damaged() { whole_ = false; }
  bool whole() const { return whole_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace podium
