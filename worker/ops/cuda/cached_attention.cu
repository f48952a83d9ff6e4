// Rows into the cache of keys and values, and their attention over it; formulas in
// worker/ops/cached_attention.h.
//
// Attention: a block computes a head of a row. A team of lanes takes eight columns each of one key at a time
// and keeps a softmax of its own over every kTeams-th key; in the end the teams' results are joined:
//
//   M = max_t m_t    out = sum_t O_t e^(m_t - M) / sum_t l_t e^(m_t - M)
#include <cmath>

#include "worker/ops/cached_attention.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/shared.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr float kBelowAll = -3.0e38F;

struct Cached {
  std::int64_t heads, key_value_heads, size, capacity;
  const std::int32_t* slots;
  const std::int32_t* positions;
  const float* table;  // or null

  Cached(const CachedRows& rows, const ConstTensorView& keys)
      : heads(rows.heads),
        key_value_heads(rows.key_value_heads),
        size(rows.head_size),
        capacity(keys.shape[2]),
        slots(rows.slots.data()),
        positions(rows.positions.data()),
        table(rows.table.address == nullptr ? nullptr : elements<float>(rows.table)) {}

  __device__ std::int64_t projected() const { return (heads + 2 * key_value_heads) * size; }
  // Where the keys or values of a head of a slot begin.
  __device__ std::int64_t begin(std::int64_t row, std::int64_t head) const {
    return (slots[row] * key_value_heads + head) * capacity * size;
  }
};

// A block takes a row; a thread one column of a head's lower half with its partner, or of a value.
template <class T>
__global__ void __launch_bounds__(kThreads) cache_kernel(Cached p, T* x, T* keys, T* values) {
  const std::int64_t row = blockIdx.x, half = p.size / 2, position = p.positions[row];
  x += row * p.projected();
  if (p.table != nullptr) {
    const float* const turns = p.table + position * p.size;
    for (std::int64_t i = threadIdx.x; i < (p.heads + p.key_value_heads) * half; i += kThreads) {
      const std::int64_t head = i / half, column = i % half;
      T* const from = x + head * p.size + column;
      T* const to = head < p.heads ? from : keys + p.begin(row, head - p.heads) + position * p.size + column;
      const float low = to_f32(from[0]), high = to_f32(from[half]);
      const float cosine = turns[column], sine = turns[column + half];
      to[0] = from_f32<T>(low * cosine - high * sine);
      to[half] = from_f32<T>(high * cosine + low * sine);
    }
  }
  const T* const own_keys = x + p.heads * p.size;
  const T* const own_values = own_keys + p.key_value_heads * p.size;
  for (std::int64_t i = threadIdx.x; i < p.key_value_heads * p.size; i += kThreads) {
    const std::int64_t to = p.begin(row, i / p.size) + position * p.size + i % p.size;
    if (p.table == nullptr) keys[to] = own_keys[i];
    values[to] = own_values[i];
  }
}

// Sums `value` over a team's neighbouring lanes.
__device__ __forceinline__ float add_over_team(float value, int lanes) {
  for (int other = lanes / 2; other > 0; other /= 2) value += __shfl_xor_sync(kAllLanes, value, other);
  return value;
}

// Of the teams, in shared memory: highest scores, sums, and sums of values [teams, columns].
struct Teams {
  float *highest, *sum, *values;

  __device__ explicit Teams(int teams) {
    highest = reinterpret_cast<float*>(dynamic_shared);
    sum = highest + teams;
    values = sum + teams;
  }
};

// `lanes`: of a team, a power of two whose lanes have all columns of a head.
template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(Cached p, int lanes, float scale, const T* x, const T* keys, const T* values, T* out) {
  const std::int64_t row = blockIdx.x, head = blockIdx.y, count = std::int64_t{p.positions[row]} + 1;
  const int teams = static_cast<int>(kThreads) / lanes, team = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t column = static_cast<std::int64_t>(threadIdx.x) % lanes * kVector;
  const std::int64_t begin = p.begin(row, head / (p.heads / p.key_value_heads));
  float query[kVector], sums[kVector] = {}, highest = kBelowAll, sum = 0.0F;
  load(x + row * p.projected() + head * p.size, column, p.size, query);
  for (std::int64_t first = 0; first < count; first += teams) {  // all lanes go round together
    const std::int64_t key = first + team;
    const bool there = key < count;
    const std::int64_t at = begin + (there ? key : 0) * p.size;
    float part[kVector], product = 0.0F;
    load(keys + at, column, p.size, part);
#pragma unroll
    for (int i = 0; i < kVector; ++i) product += query[i] * part[i];
    const float score = add_over_team(product, lanes) * scale;
    if (!there) continue;
    load(values + at, column, p.size, part);
    const float higher = fmaxf(highest, score);
    const float kept = __expf(highest - higher), weight = __expf(score - higher);
    highest = higher;
    sum = sum * kept + weight;
#pragma unroll
    for (int i = 0; i < kVector; ++i) sums[i] = sums[i] * kept + weight * part[i];
  }
  const Teams shared(teams);
  const std::int64_t columns = std::int64_t{lanes} * kVector;
  if (column == 0) {
    shared.highest[team] = highest;
    shared.sum[team] = sum;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) shared.values[team * columns + column + i] = sums[i];
  __syncthreads();
  float all_highest = kBelowAll, all = 0.0F;
  for (int t = 0; t < teams; ++t) all_highest = fmaxf(all_highest, shared.highest[t]);
  for (int t = 0; t < teams; ++t) all += shared.sum[t] * __expf(shared.highest[t] - all_highest);
  for (std::int64_t c = threadIdx.x; c < p.size; c += kThreads) {
    float total = 0.0F;
    for (int t = 0; t < teams; ++t)
      total += shared.values[t * columns + c] * __expf(shared.highest[t] - all_highest);
    out[(row * p.heads + head) * p.size + c] = from_f32<T>(total / all);
  }
}

// Of a team that has a lane for every eight columns.
int lanes_for(std::int64_t head_size) {
  int lanes = 1;
  while (lanes * kVector < head_size) lanes *= 2;
  return lanes;
}

}  // namespace

void cache_rows(Context& context, const CachedRows& rows, TensorView x, TensorView keys, TensorView values) {
  if (x.size() == 0) return;
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "cache_rows", cache_kernel<T>, static_cast<unsigned>(x.shape[0]), kThreads, 0,
           Cached(rows, keys), elements<T>(x), elements<T>(keys), elements<T>(values));
  });
}

void cached_attention(Context& context, const CachedRows& rows, ConstTensorView x, ConstTensorView keys,
                      ConstTensorView values, TensorView out) {
  if (x.size() == 0) return;
  const int lanes = lanes_for(rows.head_size), teams = static_cast<int>(kThreads) / lanes;
  const std::size_t shared =
      static_cast<std::size_t>(teams) * static_cast<std::size_t>(2 + lanes * kVector) * sizeof(float);
  const dim3 grid(static_cast<unsigned>(x.shape[0]), static_cast<unsigned>(rows.heads));
  const float scale = 1.0F / std::sqrt(static_cast<float>(rows.head_size));
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "cached_attention", attention_kernel<T>, grid, kThreads, shared, Cached(rows, keys),
           lanes, scale, elements<T>(x), elements<T>(keys), elements<T>(values), elements<T>(out));
  });
}

}  // namespace podium::ops::cuda
