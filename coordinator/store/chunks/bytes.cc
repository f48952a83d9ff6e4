#include "coordinator/store/chunks/bytes.h"

#include <cstring>

namespace podium {

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_word(std::string& out, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

std::string_view ByteReader::take(std::size_t size) {
  if (size > rest_.size()) {
    whole_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint8_t ByteReader::byte() {
  const std::string_view taken = take(1);
  return taken.empty() ? 0 : static_cast<std::uint8_t>(taken[0]);
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t part = byte();
    value |= std::uint64_t{part & 0x7fu} << shift;
    if (part < 0x80) return value;
  }
  whole_ = false;
  return 0;
}

std::uint64_t ByteReader::word() {
  const std::string_view taken = take(sizeof(std::uint64_t));
  std::uint64_t value = 0;
  if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
  return value;
}

}  // namespace podium
