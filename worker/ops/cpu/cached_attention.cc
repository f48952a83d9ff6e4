// A head of a row is one task: the scores of all its keys, then the sum of their values. Decoding reads every
// cached key and value once, at the memory's speed.
#include "worker/ops/cached_attention.h"

#include <algorithm>
#include <cmath>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

// Where a row's slot begins in the cache, and one of its heads.
struct CachePlace {
  std::int64_t heads, positions, head_size;

  CachePlace(const CachedRows& rows, const ConstTensorView& keys)
      : heads(rows.key_value_heads), positions(keys.shape[2]), head_size(rows.head_size) {}

  std::int64_t of(std::int64_t slot, std::int64_t head) const {
    return (slot * heads + head) * positions * head_size;
  }
};

template <class T>
PODIUM_SIMD_CLONES void turn_cached(const T* x, const float* turns, std::int64_t half, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < half; ++i) {
    const float low = to_float(x[i]), high = to_float(x[i + half]);
    y[i] = from_float<T>(low * turns[i] - high * turns[i + half]);
    y[i + half] = from_float<T>(high * turns[i] + low * turns[i + half]);
  }
}

template <class T>
void cache_row(const CachedRows& rows, std::int64_t row, const CachePlace& place, T* x, T* keys, T* values) {
  const std::int64_t d = rows.head_size, slot = rows.slots[static_cast<std::size_t>(row)],
                     position = rows.positions[static_cast<std::size_t>(row)];
  const float* const turns =
      rows.table.address == nullptr ? nullptr : rows.table.data<float>() + position * d;
  const auto turned = [&](const T* from, T* to) {
    if (turns == nullptr)
      std::copy_n(from, d, to);
    else
      turn_cached(from, turns, d / 2, to);
  };
  if (turns != nullptr)
    for (std::int64_t head = 0; head < rows.heads; ++head) turned(x + head * d, x + head * d);
  const T* const own_keys = x + rows.heads * d;
  const T* const own_values = own_keys + rows.key_value_heads * d;
  for (std::int64_t head = 0; head < rows.key_value_heads; ++head) {
    const std::int64_t at = place.of(slot, head) + position * d;
    turned(own_keys + head * d, keys + at);
    std::copy_n(own_values + head * d, d, values + at);
  }
}

template <class T>
PODIUM_SIMD_CLONES void score_keys(const T* query, const T* keys, std::int64_t count, std::int64_t d,
                                   float scale, float* scores) {
  for (std::int64_t key = 0; key < count; ++key, keys += d) {
    float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < d; ++i) sum += to_float(query[i]) * to_float(keys[i]);
    scores[key] = sum * scale;
  }
}

// The scores become e^(score - highest); returns 1 / their sum.
PODIUM_SIMD_CLONES float exponentiate(float* scores, std::int64_t count) {
  float highest = scores[0], sum = 0.0F;
#pragma omp simd reduction(max : highest)
  for (std::int64_t i = 0; i < count; ++i) highest = scores[i] > highest ? scores[i] : highest;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) sum += scores[i] = fast_exp(scores[i] - highest);
  return 1.0F / sum;
}

template <class T>
PODIUM_SIMD_CLONES void sum_values(const float* weights, const T* values, std::int64_t count, std::int64_t d,
                                   float factor, float* sums, T* out) {
#pragma omp simd
  for (std::int64_t i = 0; i < d; ++i) sums[i] = 0.0F;
  for (std::int64_t key = 0; key < count; ++key, values += d) {
    const float weight = weights[key];
#pragma omp simd
    for (std::int64_t i = 0; i < d; ++i) sums[i] += weight * to_float(values[i]);
  }
#pragma omp simd
  for (std::int64_t i = 0; i < d; ++i) out[i] = from_float<T>(sums[i] * factor);
}

}  // namespace

void cache_rows(Context& context, const CachedRows& rows, TensorView x, TensorView keys, TensorView values) {
  const CachePlace place(rows, keys);
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      for (std::int64_t row = range.begin; row < range.end; ++row)
        cache_row(rows, row, place, x.data<T>() + row * rows.projected(), keys.data<T>(), values.data<T>());
    });
  });
}

void cached_attention(Context& context, const CachedRows& rows, ConstTensorView x, ConstTensorView keys,
                      ConstTensorView values, TensorView out) {
  const CachePlace place(rows, keys);
  const std::int64_t d = rows.head_size, per_thread = rounded_up(place.positions, 16) + rounded_up(d, 16);
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  const ArenaScope scope(context.scratch);
  float* const scratch =
      context.scratch.allocate(DType::f32, Shape{context.threads, per_thread}).data<float>();
  // Tasks of neighbouring rows go to different threads, for in a text each row has more keys than the one
  // before.
  const std::int64_t tasks = x.shape[0] * rows.heads,
                     together = x.shape[0] >= context.threads ? rows.heads : 1;
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    const auto attend = [&](std::int64_t task, float* scores, float* sums) {
      const std::int64_t row = task / rows.heads, head = task % rows.heads;
      const std::int64_t count = rows.positions[static_cast<std::size_t>(row)] + 1,
                         at = place.of(rows.slots[static_cast<std::size_t>(row)], head / rows.group());
      score_keys(x.data<T>() + row * rows.projected() + head * d, keys.data<T>() + at, count, d, scale,
                 scores);
      const float factor = exponentiate(scores, count);
      sum_values(scores, values.data<T>() + at, count, d, factor, sums, out.data<T>() + task * d);
    };
    parallel_ranges(context.threads, context.threads, 1, [&](Range shares, int thread) {
      float* const sums = scratch + thread * per_thread;
      float* const scores = sums + rounded_up(d, 16);
      for (std::int64_t share = shares.begin; share < shares.end; ++share)
        for (std::int64_t first = share * together; first < tasks; first += context.threads * together)
          for (std::int64_t task = first; task < first + together; ++task) attend(task, scores, sums);
    });
  });
}

}  // namespace podium::ops::cpu
