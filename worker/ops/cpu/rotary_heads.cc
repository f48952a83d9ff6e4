#include "worker/ops/rotary_heads.h"

#include <algorithm>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

// Turns a head of 2 * half columns by the angles of `turns`, or back where `direction` is -1.
template <class T, class Out>
PODIUM_SIMD_CLONES void turn(const T* x, const float* turns, std::int64_t half, float direction, Out* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < half; ++i) {
    const float low = to_float(x[i]), high = to_float(x[i + half]);
    const float cosine = turns[i], sine = direction * turns[i + half];
    y[i] = from_float<Out>(low * cosine - high * sine);
    y[i + half] = from_float<Out>(high * cosine + low * sine);
  }
}

// The sum of `count` heads that follow one another.
template <class T>
PODIUM_SIMD_CLONES void add_heads(const T* heads, std::int64_t count, std::int64_t size, float* sum) {
  for (std::int64_t i = 0; i < size; ++i) sum[i] = to_float(heads[i]);
  for (std::int64_t h = 1; h < count; ++h) {
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) sum[i] += to_float(heads[h * size + i]);
  }
}

const float* turns_of(const RotaryHeads& rotary, std::int64_t row) {
  const std::int64_t position =
      rotary.positions.empty() ? row % rotary.length : rotary.positions[static_cast<std::size_t>(row)];
  return rotary.table.data<float>() + position * rotary.head_size;
}

template <class T>
void forward_row(const RotaryHeads& rotary, std::int64_t row, const T* x, T* y) {
  const std::int64_t d = rotary.head_size, group = rotary.group();
  const float* const turns = turns_of(rotary, row);
  for (std::int64_t head = 0; head < rotary.heads; ++head, x += d, y += d) turn(x, turns, d / 2, 1.0F, y);
  for (std::int64_t head = 0; head < 2 * rotary.key_value_heads; ++head, x += d) {
    if (head < rotary.key_value_heads)
      turn(x, turns, d / 2, 1.0F, y);
    else
      std::copy_n(x, d, y);
    for (std::int64_t copy = 1; copy < group; ++copy) std::copy_n(y, d, y + copy * d);
    y += group * d;
  }
}

template <class T>
void backward_row(const RotaryHeads& rotary, std::int64_t row, const T* dy, T* dx, float* sum) {
  const std::int64_t d = rotary.head_size, group = rotary.group();
  const float* const turns = turns_of(rotary, row);
  for (std::int64_t head = 0; head < rotary.heads; ++head, dx += d, dy += d)
    turn(dy, turns, d / 2, -1.0F, dx);
  for (std::int64_t head = 0; head < 2 * rotary.key_value_heads; ++head, dx += d, dy += group * d) {
    add_heads(dy, group, d, sum);
    if (head < rotary.key_value_heads)
      turn(sum, turns, d / 2, -1.0F, dx);
    else
      std::transform(sum, sum + d, dx, from_float<T>);
  }
}

}  // namespace

void rotary_heads_forward(Context& context, const RotaryHeads& rotary, ConstTensorView x, TensorView y) {
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        forward_row(rotary, i, x.data<T>() + i * rotary.projected(), y.data<T>() + i * rotary.expanded());
    });
  });
}

void rotary_heads_backward(Context& context, const RotaryHeads& rotary, ConstTensorView dy, TensorView dx) {
  const ArenaScope scope(context.scratch);
  float* const sums =
      context.scratch.allocate(DType::f32, Shape{context.threads, rotary.head_size}).data<float>();
  with_float_type(dx.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, dx.shape[0], 1, [&](Range range, int thread) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        backward_row(rotary, i, dy.data<T>() + i * rotary.expanded(), dx.data<T>() + i * rotary.projected(),
                     sums + thread * rotary.head_size);
    });
  });
}

}  // namespace podium::ops::cpu
