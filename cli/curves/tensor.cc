#include "cli/curves/tensor.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "cli/curves/wire.h"

namespace podium::cli {
namespace {

// tensorflow/core/framework/types.proto
enum class Type : std::uint64_t {
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  int64 = 9,
  boolean = 10,
  bfloat16 = 14,
  float16 = 19,
  uint32 = 22,
  uint64 = 23,
};

double half(std::uint64_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  if (exponent == 0x1f) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

float single(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

template <class Integer>
double integer(std::uint64_t bits) {
  return static_cast<double>(static_cast<Integer>(bits));
}

std::size_t size_of(Type type) {
  switch (type) {
    case Type::float64:
    case Type::int64:
    case Type::uint64:
      return 8;
    case Type::float32:
    case Type::int32:
    case Type::uint32:
      return 4;
    case Type::int16:
    case Type::bfloat16:
    case Type::float16:
      return 2;
    case Type::uint8:
    case Type::int8:
    case Type::boolean:
      return 1;
  }
  return 0;  // text, complex numbers, …
}

double tensor_value(Type type, std::uint64_t bits) {
  switch (type) {
    case Type::float32:
      return single(bits);
    case Type::float64:
      return std::bit_cast<double>(bits);
    case Type::int32:
      return integer<std::int32_t>(bits);
    case Type::uint8:
      return integer<std::uint8_t>(bits);
    case Type::int16:
      return integer<std::int16_t>(bits);
    case Type::int8:
      return integer<std::int8_t>(bits);
    case Type::int64:
      return integer<std::int64_t>(bits);
    case Type::boolean:
      return bits != 0 ? 1 : 0;
    case Type::bfloat16:
      return single(bits << 16);
    case Type::float16:
      return half(bits);
    case Type::uint32:
      return integer<std::uint32_t>(bits);
    case Type::uint64:
      return integer<std::uint64_t>(bits);
  }
  return NAN;
}

// The bits of the numbers in a field such as float_val, packed or not: how many there are, and the first.
struct Numbers {
  std::size_t count = 0;
  std::uint64_t first = 0;

  void add(std::uint64_t bits) {
    if (count++ == 0) first = bits;
  }
};

bool add_packed(std::string_view packed, std::size_t width, Numbers& numbers) {
  if (width == 0) {  // varints
    std::uint64_t bits = 0;
    while (!packed.empty()) {
      if (!take_packed_varint(packed, bits)) return false;
      numbers.add(bits);
    }
    return true;
  }
  if (packed.size() % width != 0) return false;
  for (; !packed.empty(); packed.remove_prefix(width)) numbers.add(little_endian(packed.substr(0, width)));
  return true;
}

bool add_numbers(const WireReader& field, std::size_t width, Numbers& numbers) {
  if (field.type() == WireType::bytes) return add_packed(field.bytes(), width, numbers);
  numbers.add(field.type() == WireType::varint ? field.varint() : little_endian(field.bytes()));
  return true;
}

// Whether all dimensions of a TensorShapeProto are 1: a scalar has none.
bool is_one_number(std::string_view shape, bool& ok) {
  WireReader dimensions(shape);
  bool one = true;
  while (dimensions.next()) {
    if (!dimensions.is(2, WireType::bytes)) continue;
    WireReader dimension(dimensions.bytes());
    std::uint64_t size = 0;
    while (dimension.next())
      if (dimension.is(1, WireType::varint)) size = dimension.varint();
    ok = ok && dimension.ok();
    one = one && size == 1;
  }
  ok = ok && dimensions.ok();
  return one;
}

}  // namespace

Tensor read_tensor(std::string_view message) {
  Tensor tensor;
  WireReader field(message);
  Type type{};
  bool one = true;
  std::string_view content;
  Numbers numbers;
  while (tensor.ok && field.next()) {
    switch (field.field()) {
      case 1:
        type = static_cast<Type>(field.varint());
        break;
      case 2:
        one = is_one_number(field.bytes(), tensor.ok);
        break;
      case 4:
        content = field.bytes();
        break;
      case 5:
        tensor.ok = add_numbers(field, 4, numbers);
        break;
      case 6:
        tensor.ok = add_numbers(field, 8, numbers);
        break;
      case 7:   // int_val, of the small integers, too
      case 10:  // int64_val
      case 11:  // bool_val
      case 13:  // half_val, the bits of both 16-bit types
      case 16:  // uint32_val
      case 17:
        tensor.ok = add_numbers(field, 0, numbers);
        break;
      default:
        break;
    }
  }
  tensor.ok = tensor.ok && field.ok();
  const std::size_t size = size_of(type);
  if (!tensor.ok || !one || size == 0) return tensor;
  if (content.size() == size)
    tensor.number = tensor_value(type, little_endian(content));
  else if (content.empty() && numbers.count <= 1)  // none: zero, whose value TensorFlow leaves out
    tensor.number = tensor_value(type, numbers.first);
  return tensor;
}

}  // namespace podium::cli
