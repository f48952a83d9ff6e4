// Tensors of 8 bits for tests: what values become there, and whether results agree to one step.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/quantised.h"

namespace podium::test {

// Written apart from the code under test: by search among the values that the type has.
inline double rounded_to(DType type, double value) {
  if (type == DType::i8) return std::clamp(std::nearbyint(value), -128.0, 127.0);
  double best = 0;
  for (int bits = 0; bits < 256; ++bits) {
    const double candidate = to_float(Float8E4M3{static_cast<std::uint8_t>(bits)});
    const double gap = std::abs(candidate - value) - std::abs(best - value);
    if (gap < 0 || (gap == 0 && bits % 2 == 0)) best = candidate;  // ties to the even one; no NaN compares
  }
  return best;
}

inline float quantised_value_at(const Tensor& tensor, std::size_t i) {
  if (tensor.dtype() == DType::i8) return tensor.view().values<std::int8_t>()[i];
  return to_float(tensor.view().values<Float8E4M3>()[i]);
}

inline Values quantised_values_of(const Tensor& tensor) {
  Values values;
  for (std::int64_t i = 0; i < tensor.shape().size(); ++i)
    values.push_back(quantised_value_at(tensor, static_cast<std::size_t>(i)));
  return values;
}

// `values` must be some that the type has.
inline Tensor quantised_tensor_of(const Values& values, DType type, const Shape& shape) {
  Tensor tensor(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == DType::i8) tensor.view().values<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
    if (type == DType::e4m3) tensor.view().values<Float8E4M3>()[i] = to_float8_e4m3(values[i]);
  }
  return tensor;
}

// Whole numbers for i8; values of e4m3.
inline Values random_quantised(DType type, std::int64_t count, std::uint64_t stream) {
  Values values = random_values(count, stream, type == DType::i8 ? 30.0 : 1.0);
  for (float& v : values) v = static_cast<float>(rounded_to(type, v));
  return values;
}

// Of `exact` / scale; where it lies beside the border between two steps either will do.
inline void expect_quantised(const Tensor& actual, const Values& exact, float scale, double slack) {
  std::size_t apart = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double value = exact[i] / scale, found = quantised_value_at(actual, i);
    const double near = slack * (std::abs(value) + 1);
    const double low = rounded_to(actual.dtype(), value - near),
                 high = rounded_to(actual.dtype(), value + near);
    EXPECT_TRUE(found >= low && found <= high) << i << ": " << found << " for " << value;
    apart += found == rounded_to(actual.dtype(), value) ? 0 : 1;
  }
  EXPECT_LE(apart, exact.size() / 10 + 1);
}

}  // namespace podium::test
