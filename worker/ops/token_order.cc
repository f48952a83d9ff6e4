#include "worker/ops/token_order.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace podium::ops {
namespace {

constexpr int kDigitBits = 9;
constexpr std::uint32_t kDigits = 1U << kDigitBits;

}  // namespace

// By digits, the lowest first: linear in the number of tokens.
std::vector<std::int32_t> token_order(std::span<const std::int32_t> values) {
  std::vector<std::int32_t> order(values.size()), next(values.size());
  std::iota(order.begin(), order.end(), 0);
  if (values.empty()) return order;
  const auto [least, greatest] = std::ranges::minmax(values);
  const auto above_least = [&, low = static_cast<std::uint32_t>(least)](std::int32_t value) {
    return static_cast<std::uint32_t>(value) - low;
  };
  for (int shift = 0; shift < 32 && above_least(greatest) >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](std::int32_t token) {
      return above_least(values[static_cast<std::size_t>(token)]) >> shift & (kDigits - 1);
    };
    std::array<std::size_t, kDigits + 1> begins{};
    for (const std::int32_t token : order) ++begins[digit(token) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    for (const std::int32_t token : order) next[begins[digit(token)]++] = token;
    order.swap(next);
  }
  return order;
}

}  // namespace podium::ops
