#include "coordinator/store/chunks/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "coordinator/store/chunks/integers.h"

namespace podium {
namespace {

enum class Kind : std::uint8_t { bits = 0, decimal = 1 };

// All exact, as every integer below kExact is.
constexpr std::array kPowers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
constexpr double kExact = 9007199254740992;
constexpr std::size_t kSample = 32;
constexpr std::size_t kFewestForOneOdd = 16;  // decimals for one value that is none

std::optional<std::int64_t> as_decimal(double value, double power) {
  const double scaled = std::nearbyint(value * power);
  if (!(std::abs(scaled) < kExact)) return std::nullopt;
  const auto integer = static_cast<std::int64_t>(scaled);
  const double back = static_cast<double>(integer) / power;
  if (std::bit_cast<std::uint64_t>(back) != std::bit_cast<std::uint64_t>(value)) return std::nullopt;
  return integer;
}

// With how many digits after the point a few of the values are told; NaN and infinities have none.
std::optional<std::size_t> digits_of(std::span<const double> values) {
  std::size_t digits = 0;
  const std::size_t stride = std::max<std::size_t>(1, values.size() / kSample);
  for (std::size_t i = 0; i < values.size(); i += stride) {
    if (!std::isfinite(values[i])) continue;
    while (digits < kPowers.size() && !as_decimal(values[i], kPowers[digits])) ++digits;
    if (digits == kPowers.size()) return std::nullopt;
  }
  return digits;
}

// "" where too many values are none.
std::string pack_decimals(std::span<const double> values, std::size_t digits) {
  std::vector<std::int64_t> integers;
  std::vector<std::size_t> odd;
  integers.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto integer = as_decimal(values[i], kPowers[digits]);
    if (!integer) odd.push_back(i);
    integers.push_back(integer ? *integer : integers.empty() ? 0 : integers.back());
  }
  if (odd.size() * kFewestForOneOdd > values.size()) return "";
  std::string out{static_cast<char>(Kind::decimal), static_cast<char>(digits)};
  put_varint(out, odd.size());
  for (const std::size_t i : odd) {
    put_varint(out, i);
    put_word(out, std::bit_cast<std::uint64_t>(values[i]));
  }
  pack_integers(integers, out);
  return out;
}

constexpr std::uint64_t kMagnitude = ~std::uint64_t{0} >> 1;

std::string pack_bits(std::span<const double> values) {
  std::uint64_t any = 0;
  for (const double value : values) any |= std::bit_cast<std::uint64_t>(value) & kMagnitude;
  const int zeros = any == 0 ? 0 : std::countr_zero(any);
  std::vector<std::int64_t> integers;
  integers.reserve(values.size());
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto magnitude = static_cast<std::int64_t>((bits & kMagnitude) >> zeros);
    integers.push_back(bits > kMagnitude ? ~magnitude : magnitude);
  }
  std::string out{static_cast<char>(Kind::bits), static_cast<char>(zeros)};
  pack_integers(integers, out);
  return out;
}

std::vector<double> unpack_decimals(ByteReader& in, std::size_t count) {
  std::vector<double> values(count);
  const std::size_t digits = in.byte();
  const std::uint64_t odd = in.varint();
  if (digits >= kPowers.size() || odd > count) {
    in.damaged();
    return values;
  }
  std::vector<std::pair<std::uint64_t, double>> odd_values(odd);
  for (auto& [at, value] : odd_values) {
    at = in.varint();
    value = std::bit_cast<double>(in.word());
    if (at >= count) in.damaged();
  }
  const std::vector<std::int64_t> integers = unpack_integers(in, count);
  if (!in.whole()) return values;
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(integers[i]) / kPowers[digits];
  for (const auto& [at, value] : odd_values) values[at] = value;
  return values;
}

std::vector<double> unpack_bits(ByteReader& in, std::size_t count) {
  std::vector<double> values(count);
  const int zeros = in.byte();
  if (zeros > 62) {
    in.damaged();
    return values;
  }
  const std::vector<std::int64_t> integers = unpack_integers(in, count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool negative = integers[i] < 0;
    const auto magnitude = static_cast<std::uint64_t>(negative ? ~integers[i] : integers[i]) << zeros;
    values[i] = std::bit_cast<double>((magnitude & kMagnitude) | (negative ? ~kMagnitude : 0));
  }
  return values;
}

}  // namespace

void pack_values(std::span<const double> values, std::string& out) {
  std::string packed = pack_bits(values);
  if (const auto digits = digits_of(values))
    if (std::string decimals = pack_decimals(values, *digits);
        !decimals.empty() && decimals.size() < packed.size())
      packed = std::move(decimals);
  out += packed;
}

std::vector<double> unpack_values(ByteReader& in, std::size_t count) {
  switch (static_cast<Kind>(in.byte())) {
    case Kind::bits:
      return unpack_bits(in, count);
    case Kind::decimal:
      return unpack_decimals(in, count);
  }
  in.damaged();
  return std::vector<double>(count);
}

}  // namespace podium
