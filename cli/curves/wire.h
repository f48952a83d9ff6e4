// The wire form of protocol buffers, as far as TensorBoard's messages need it. Reading takes hostile bytes:
// what is malformed ends the message and is told by ok().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace podium::cli {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

class WireWriter {
 public:
  void varint(int field, std::uint64_t value);
  void float64(int field, double value);
  void float32(int field, float value);
  void bytes(int field, std::string_view value);

  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  void key(int field, WireType type);
  void raw_varint(std::uint64_t value);

  std::string text_;
};

// The fields of a message, one after the other; those of types that are not asked for are passed over.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  bool next();  // false at the end, and where the message is malformed
  bool ok() const { return ok_; }

  std::uint64_t field() const { return field_; }
  WireType type() const { return type_; }
  bool is(std::uint64_t field, WireType type) const { return field_ == field && type_ == type; }

  std::uint64_t varint() const { return number_; }
  double float64() const;
  float float32() const;
  std::string_view bytes() const { return bytes_; }

 private:
  bool take_varint(std::uint64_t& value);
  bool take_bytes(std::uint64_t size);
  bool fail();

  std::string_view rest_, bytes_;
  std::uint64_t field_ = 0, number_ = 0;
  WireType type_ = WireType::varint;
  bool ok_ = true;
};

// `size` bytes, least significant first.
std::uint64_t little_endian(std::string_view bytes);
void append_little_endian(std::string& text, std::uint64_t value, int size);

// Of a repeated field that is packed.
bool take_packed_varint(std::string_view& rest, std::uint64_t& value);

}  // namespace podium::cli
