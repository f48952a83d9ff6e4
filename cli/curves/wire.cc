#include "cli/curves/wire.h"

#include <bit>

namespace podium::cli {

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void append_little_endian(std::string& text, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

bool take_packed_varint(std::string_view& rest, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < rest.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest.remove_prefix(i + 1);
    return true;
  }
  return false;
}

void WireWriter::raw_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7f) | 0x80);
  text_ += static_cast<char>(value);
}

void WireWriter::key(int field, WireType type) {
  raw_varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}

void WireWriter::varint(int field, std::uint64_t value) {
  key(field, WireType::varint);
  raw_varint(value);
}

void WireWriter::float64(int field, double value) {
  key(field, WireType::fixed64);
  append_little_endian(text_, std::bit_cast<std::uint64_t>(value), 8);
}

void WireWriter::float32(int field, float value) {
  key(field, WireType::fixed32);
  append_little_endian(text_, std::bit_cast<std::uint32_t>(value), 4);
}

void WireWriter::bytes(int field, std::string_view value) {
  key(field, WireType::bytes);
  raw_varint(value.size());
  text_ += value;
}

bool WireReader::fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

bool WireReader::take_varint(std::uint64_t& value) { return take_packed_varint(rest_, value); }

bool WireReader::take_bytes(std::uint64_t size) {
  if (size > rest_.size()) return false;
  bytes_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::next() {
  if (rest_.empty()) return false;
  std::uint64_t key = 0, size = 0;
  if (!take_varint(key) || key >> 3 == 0) return fail();
  field_ = key >> 3;
  type_ = static_cast<WireType>(key & 7);
  bytes_ = {};
  switch (type_) {
    case WireType::varint:
      return take_varint(number_) || fail();
    case WireType::fixed64:
      return take_bytes(8) || fail();
    case WireType::bytes:
      return (take_varint(size) && take_bytes(size)) || fail();
    case WireType::fixed32:
      return take_bytes(4) || fail();
  }
  return fail();  // groups, which nobody writes any more
}

double WireReader::float64() const { return std::bit_cast<double>(little_endian(bytes_)); }

float WireReader::float32() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(little_endian(bytes_)));
}

}  // namespace podium::cli
