// Few rows are multiplied with the weight as it is. Else a weight is made dense at its first use, and but for
// i8 widened to f32: products are then those of training, or in i8 a plain loop. A pass over the sums does
// the rest.
#include "worker/ops/inference_linear.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/few_rows.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/quantise.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

struct DenseWeight final : PackedWeight {
  Tensor values;                       // f32; empty where the weight's own serve
  LinearWeight product;                // of f32
  std::vector<std::int16_t> integers;  // of i8, in the width that instructions multiply and add in pairs
};

// visit(element of the dense matrix, element of the kept ones) for all that are kept.
template <class Visit>
void for_each_kept(const InferenceWeight& weight, const Visit& visit) {
  const std::int64_t groups = weight.out() * weight.in() / 4;
  const auto* const positions = weight.positions.data<std::uint8_t>();
  for (std::int64_t group = 0; group < groups; ++group) {
    const int nibble = positions[group / 2] >> (group % 2 * 4);
    visit(4 * group + (nibble & 3), 2 * group);
    visit(4 * group + (nibble >> 2 & 3), 2 * group + 1);
  }
}

template <class From, class To>
void make_dense(const InferenceWeight& weight, To* to) {
  const From* const from = weight.values.data<From>();
  const auto converted = [](From value) { return static_cast<To>(to_float(value)); };
  if (weight.positions.address == nullptr) {
    for (std::int64_t i = 0; i < weight.out() * weight.in(); ++i) to[i] = converted(from[i]);
  } else {
    for_each_kept(weight, [&](std::int64_t i, std::int64_t kept) { to[i] = converted(from[kept]); });
  }
}

Tensor dense_values(const InferenceWeight& weight) {
  Tensor dense(DType::f32, Shape{weight.out(), weight.in()});
  float* const to = dense.view().data<float>();
  if (weight.values.dtype == DType::e4m3) {
    make_dense<Float8E4M3>(weight, to);
  } else {
    with_float_type(weight.values.dtype, [&]<class T>(Type<T>) { make_dense<T>(weight, to); });
  }
  return dense;
}

DenseWeight& dense(InferenceWeight& weight) {
  if (!weight.packed) {
    auto made = std::make_unique<DenseWeight>();
    if (weight.values.dtype == DType::i8) {
      made->integers.resize(static_cast<std::size_t>(weight.out() * weight.in()));
      make_dense<std::int8_t>(weight, made->integers.data());
    } else {
      const bool as_is = weight.values.dtype == DType::f32 && weight.positions.address == nullptr;
      if (!as_is) made->values = dense_values(weight);
      made->product.master = as_is ? weight.values : std::as_const(made->values).view();
      made->product.generation = 1;
    }
    weight.packed = std::move(made);
  }
  return static_cast<DenseWeight&>(*weight.packed);
}

PODIUM_SIMD_CLONES std::int32_t dot(const std::int16_t* a, const std::int16_t* b, std::int64_t count) {
  std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<std::int32_t>(a[i]) * b[i];
  return sum;
}

// sums = x w^T, each exact in i32.
void multiply_integers(Context& context, ConstTensorView x, const std::vector<std::int16_t>& weights,
                       TensorView sums) {
  const std::int64_t rows = x.shape[0], in = x.shape[1], out = sums.shape[1];
  auto* const wide = static_cast<std::int16_t*>(
      context.scratch.allocate_bytes(static_cast<std::size_t>(x.size()) * sizeof(std::int16_t)));
  std::ranges::copy(x.values<std::int8_t>(), wide);
  float* const to = sums.data<float>();
  parallel_ranges(context.threads, out, 1, [&](Range range, int) {
    for (std::int64_t o = range.begin; o < range.end; ++o)
      for (std::int64_t row = 0; row < rows; ++row)
        to[row * out + o] = static_cast<float>(dot(wide + row * in, weights.data() + o * in, in));
  });
}

PODIUM_SIMD_CLONES void widen_e4m3(std::span<const Float8E4M3> from, float* to) {
#pragma omp simd
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_float(from[i]);
}

void multiply(Context& context, ConstTensorView x, InferenceWeight& any_weight, TensorView sums) {
  if (any_weight.positions.address == nullptr && multiplies_few_rows(x.shape[0], x.dtype))
    return multiply_few_rows(context, x, any_weight.values, sums);
  DenseWeight& weight = dense(any_weight);
  if (x.dtype == DType::i8) return multiply_integers(context, x, weight.integers, sums);
  if (x.dtype != DType::e4m3) return cpu::linear_forward(context, x, weight.product, {}, sums);
  const TensorView wide = context.scratch.allocate(DType::f32, x.shape);
  widen_e4m3(x.values<Float8E4M3>(), wide.data<float>());
  cpu::linear_forward(context, wide, weight.product, {}, sums);
}

PODIUM_SIMD_CLONES void scale_row(const float* scales, std::int64_t columns, float* v) {
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) v[j] *= scales[j];
}

PODIUM_SIMD_CLONES void add_row(const float* from, std::int64_t columns, float* v) {
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) v[j] += from[j];
}

PODIUM_SIMD_CLONES void gelu_row(std::int64_t columns, float* v) {
  constexpr float kInverseRoot2 = 0.70710678118654752F;
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j) v[j] *= 0.5F + 0.5F * fast_erf(v[j] * kInverseRoot2).erf;
}

PODIUM_SIMD_CLONES void gelu_tanh_row(std::int64_t columns, float* v) {
  constexpr float kTwoRoot2OverPi = 1.5957691216057308F, kCubic = 0.044715F;
#pragma omp simd
  for (std::int64_t j = 0; j < columns; ++j)
    v[j] /= 1.0F + fast_exp(-kTwoRoot2OverPi * v[j] * (1.0F + kCubic * v[j] * v[j]));
}

template <class T>
PODIUM_SIMD_CLONES void store_row(const float* v, const T* residual, std::int64_t columns, T* y) {
  if (residual == nullptr) {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) y[j] = from_float<T>(v[j]);
  } else {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) y[j] = from_float<T>(v[j] + to_float(residual[j]));
  }
}

// What follows the sums of a row.
void finish_row(const InferenceWeight& weight, const InferenceEpilogue& epilogue, std::int64_t row,
                float* sums, TensorView y) {
  const std::int64_t columns = y.shape[1];
  if (weight.scales.address != nullptr) scale_row(weight.scales.data<float>(), columns, sums);
  if (weight.bias.address != nullptr) add_row(weight.bias.data<float>(), columns, sums);
  if (epilogue.activation == Activation::gelu) gelu_row(columns, sums);
  if (epilogue.activation == Activation::gelu_tanh) gelu_tanh_row(columns, sums);
  if (is_quantised(y.dtype)) {
    y.address = static_cast<std::byte*>(y.address) + row * columns;
    return quantise(sums, DType::f32, columns, {y, epilogue.y_scale}, 1);
  }
  with_float_type(y.dtype, [&]<class T>(Type<T>) {
    const T* const residual =
        epilogue.residual.address == nullptr ? nullptr : epilogue.residual.data<T>() + row * columns;
    store_row(sums, residual, columns, y.data<T>() + row * columns);
  });
}

}  // namespace

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y) {
  const ArenaScope scope(context.scratch);
  const TensorView sums = context.scratch.allocate(DType::f32, y.shape);
  multiply(context, x, weight, sums);
  parallel_ranges(context.threads, y.shape[0], 1, [&](Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row)
      finish_row(weight, epilogue, row, sums.data<float>() + row * y.shape[1], y);
  });
}

}  // namespace podium::ops::cpu
