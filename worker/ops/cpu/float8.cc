#include "worker/ops/float8.h"

#include <algorithm>
#include <memory>

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/magnitude.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"
#include "worker/ops/cpu/state.h"
#include "worker/ops/float8_weight.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kGrain = 1024;
constexpr std::int64_t kColumns = 64;  // transposed together: a cache line of the result's elements

// body(Type<Float8E4M3>{}) or body(Type<Float8E5M2>{})
template <class Body>
void with_float8_type(DType dtype, const Body& body) {
  if (dtype == DType::e4m3) return body(Type<Float8E4M3>{});
  body(Type<Float8E5M2>{});
}

template <class From, class To>
PODIUM_SIMD_CLONES void scale_range(const From* from, std::int64_t count, float factor, To* to) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = from_float<To>(to_float(from[i]) * factor);
}

template <class From, class To>
void scale(const From* from, std::int64_t count, float factor, To* to, int threads) {
  parallel_ranges(threads, count, kGrain, [&](Range range, int) {
    scale_range(from + range.begin, range.end - range.begin, factor, to + range.begin);
  });
}

// to[c, r] = x[r, c] * factor, and zeros from row `rows` of x on.
template <class T, class Element>
void transpose(const T* x, std::int64_t rows, std::int64_t columns, float factor, Element* to,
               std::int64_t pitch, int threads) {
  parallel_ranges(threads, columns, kColumns, [&](Range range, int) {
    for (std::int64_t begin = range.begin; begin < range.end; begin += kColumns) {
      const std::int64_t end = std::min(begin + kColumns, range.end);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = begin; c < end; ++c)
          to[c * pitch + r] = from_float<Element>(to_float(x[r * columns + c]) * factor);
      for (std::int64_t c = begin; c < end; ++c)
        std::fill(to + c * pitch + rows, to + (c + 1) * pitch, Element{});
    }
  });
}

// The values of a matrix in FP8, in scratch memory. bf16 holds them exactly, as f16 would not: their range is
// that of the scale.
ConstTensorView widened(Context& context, const TensorView& elements, const TensorView& matrix_scale,
                        DType result) {
  const DType type = result == DType::bf16 ? DType::bf16 : DType::f32;
  const TensorView wide = cpu_state(context).runtime().scratch.allocate(type, elements.shape);
  const float factor = *matrix_scale.data<float>();
  with_float8_type(elements.dtype, [&]<class From>(Type<From>) {
    with_float_type(type, [&]<class To>(Type<To>) {
      scale(elements.data<From>(), elements.size(), factor, wide.data<To>(), context.threads);
    });
  });
  return wide;
}

}  // namespace

void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    with_float8_type(out.type(), [&]<class Element>(Type<Element>) {
      const T* const values = x.data<T>();
      const Float8Scales scales =
          float8_scales(largest_magnitude(values, x.size(), context.threads), Element::kLargest);
      *out.scale.data<float>() = scales.divide;
      if (out.by_rows.address != nullptr)
        scale(values, x.size(), scales.multiply, out.by_rows.data<Element>(), context.threads);
      if (out.by_columns.address != nullptr)
        transpose(values, x.shape[0], x.shape[1], scales.multiply, out.by_columns.data<Element>(),
                  out.by_columns.shape[1], context.threads);
    });
  });
}

void float8_linear_forward(Context& context, const Float8Matrix& x, LinearWeight& weight,
                           ConstTensorView bias, TensorView y) {
  const Float8Matrix w = float8_copies(weight);
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const ArenaScope scratch(state.runtime().scratch);
  const ConstTensorView a = widened(context, x.by_rows, x.scale, y.dtype);
  const ConstTensorView b = widened(context, w.by_rows, w.scale, y.dtype);
  const std::shared_ptr<Matmul> product = state.matmul({.m = y.shape[0],
                                                        .n = y.shape[1],
                                                        .k = a.shape[1],
                                                        .a = {a.dtype},
                                                        .b = {.dtype = b.dtype, .transposed = true},
                                                        .c = {y.dtype},
                                                        .bias = bias.address != nullptr});
  product->run(state.runtime(), {.a = a.address, .b = b.address, .c = y.address, .bias = bias.address});
}

void float8_linear_backward_input(Context& context, const Float8Matrix& dy, LinearWeight& weight,
                                  TensorView dx, const ProductOptions& options) {
  const Float8Matrix w = float8_copies(weight);
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const ArenaScope scratch(state.runtime().scratch);
  const ConstTensorView a = widened(context, dy.by_rows, dy.scale, dx.dtype);
  const ConstTensorView b = widened(context, w.by_rows, w.scale, dx.dtype);
  const std::shared_ptr<Matmul> product = state.matmul({.m = dx.shape[0],
                                                        .n = dx.shape[1],
                                                        .k = a.shape[1],
                                                        .a = {a.dtype},
                                                        .b = {b.dtype},
                                                        .c = {dx.dtype},
                                                        .accumulate = options.accumulate,
                                                        .multiply = options.gelu.values.address != nullptr});
  product->run(state.runtime(),
               {.a = a.address, .b = b.address, .c = dx.address, .factor = options.gelu.values.address});
  if (options.column_sums.address != nullptr) add_column_sums(context, dx, options.column_sums);
}

void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw) {
  CpuState& state = cpu_state(context);
  const ThreadsScope threads(context.threads);
  const ArenaScope scratch(state.runtime().scratch);
  const ConstTensorView a = widened(context, dy.by_columns, dy.scale, DType::bf16);
  const ConstTensorView b = widened(context, x.by_columns, x.scale, DType::bf16);
  const std::shared_ptr<Matmul> product = state.matmul({.m = dw.shape[0],
                                                        .n = dw.shape[1],
                                                        .k = a.shape[1],
                                                        .a = {a.dtype},
                                                        .b = {.dtype = b.dtype, .transposed = true},
                                                        .c = {DType::f32},
                                                        .accumulate = true});
  product->run(state.runtime(), {.a = a.address, .b = b.address, .c = dw.address});
}

}  // namespace podium::ops::cpu
