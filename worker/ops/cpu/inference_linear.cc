// A weight is made dense and widened to f32 at its first use; products are then those of training, and a pass
// over their sums does the rest.
#include "worker/ops/cpu/inference_linear.h"

#include <utility>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/linear.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

struct DenseWeight final : PackedWeight {
  Tensor values;  // f32; empty where the weight's own serve
  LinearWeight product;
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

Tensor dense_values(const InferenceWeight& weight) {
  Tensor dense(DType::f32, Shape{weight.out(), weight.in()});
  float* const to = dense.view().data<float>();
  with_float_type(weight.values.dtype, [&]<class T>(Type<T>) {
    const T* const from = weight.values.data<T>();
    if (weight.positions.address == nullptr) {
      for (std::int64_t i = 0; i < dense.shape().size(); ++i) to[i] = to_float(from[i]);
    } else {
      for_each_kept(weight, [&](std::int64_t i, std::int64_t kept) { to[i] = to_float(from[kept]); });
    }
  });
  return dense;
}

LinearWeight& dense(InferenceWeight& weight) {
  if (!weight.packed) {
    auto made = std::make_unique<DenseWeight>();
    const bool as_is = weight.values.dtype == DType::f32 && weight.positions.address == nullptr;
    if (!as_is) made->values = dense_values(weight);
    made->product.master = as_is ? weight.values : std::as_const(made->values).view();
    made->product.generation = 1;
    weight.packed = std::move(made);
  }
  return static_cast<DenseWeight&>(*weight.packed).product;
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
  if (weight.bias.address != nullptr) add_row(weight.bias.data<float>(), columns, sums);
  if (epilogue.activation == Activation::gelu) gelu_row(columns, sums);
  if (epilogue.activation == Activation::gelu_tanh) gelu_tanh_row(columns, sums);
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
  cpu::linear_forward(context, x, dense(weight), {}, sums);
  parallel_ranges(context.threads, y.shape[0], 1, [&](Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row)
      finish_row(weight, epilogue, row, sums.data<float>() + row * y.shape[1], y);
  });
}

}  // namespace podium::ops::cpu
