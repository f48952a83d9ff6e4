#include "worker/comm/reduction.h"

#include <algorithm>
#include <string>

#include "common/base/check.h"

namespace podium {
namespace {

constexpr std::size_t kBlock = 1024;  // elements whose running sums stay in the first-level cache

struct Sum {
  template <class T>
  static T combine(T a, T b) {
    return a + b;
  }
};

struct Max {
  template <class T>
  static T combine(T a, T b) {
    return a < b ? b : a;
  }
};

double widened(double value) { return value; }
template <class T>
float widened(T value) {
  return to_float(value);
}

template <class T, class Wide>
T narrowed(Wide value) {
  if constexpr (std::is_same_v<T, Wide>)
    return value;
  else
    return from_float<T>(value);
}

template <class T, class Operation>
void reduce(std::span<const std::byte* const> parts, std::byte* out, std::size_t count) {
  using Wide = decltype(widened(T{}));
  Wide sums[kBlock];
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    const T* const first = reinterpret_cast<const T*>(parts[0]) + begin;
    for (std::size_t i = 0; i < length; ++i) sums[i] = widened(first[i]);
    for (const std::byte* const part : parts.subspan(1)) {
      const T* const values = reinterpret_cast<const T*>(part) + begin;
      for (std::size_t i = 0; i < length; ++i) sums[i] = Operation::combine(sums[i], widened(values[i]));
    }
    T* const result = reinterpret_cast<T*>(out) + begin;
    for (std::size_t i = 0; i < length; ++i) result[i] = narrowed<T>(sums[i]);
  }
}

template <class T>
ElementReduction reduction_on(Reduction reduction) {
  return {sizeof(T), reduction == Reduction::sum ? reduce<T, Sum> : reduce<T, Max>};
}

}  // namespace

ElementReduction reduction_of(DType dtype, Reduction reduction) {
  switch (dtype) {
    case DType::f32:
      return reduction_on<float>(reduction);
    case DType::bf16:
      return reduction_on<BFloat16>(reduction);
    case DType::f16:
      return reduction_on<Float16>(reduction);
    default:
      PODIUM_CHECK(false, "ranks reduce f32, bf16 and f16 values, not " + std::string(to_string(dtype)));
  }
}

ElementReduction sum_of_doubles() { return reduction_on<double>(Reduction::sum); }

}  // namespace podium
