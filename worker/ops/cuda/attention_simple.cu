// Attention without tensor cores: for f32, whose products these would round, and for head sizes that the
// tiles do not fit. A warp computes one query (or, for dK and dV, one key): its lanes take a row of the other
// side each for the dot products, then a column each for the sums, with the weights in shared memory between.
// Formulas in attention_forward.cu and attention_backward_queries.cu.
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/reduce.cuh"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kLanes = 32;
constexpr int kColumns = static_cast<int>(kMaxHeadSize) / kLanes;  // of a lane: lane, lane + 32, …

template <class T>
struct Tensors {
  const T* qkv;
  const T* out;
  const T* dout;
  T* dqkv;
};

struct Place {
  int lane, row;            // the warp's query or key
  float (*shared)[kLanes];  // two rows for the warp's own use
};

__device__ __forceinline__ Place place_of_warp() {
  __shared__ float shared[kWarps][2][kLanes];
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  return {static_cast<int>(threadIdx.x) % kLanes, static_cast<int>(blockIdx.x) * kWarps + warp, shared[warp]};
}

template <class T>
__device__ __forceinline__ float dot(const T* a, const T* b, int columns) {
  float sum = 0.0F;
  for (int i = 0; i < columns; ++i) sum += to_f32(a[i]) * to_f32(b[i]);
  return sum;
}

// sums += weights^T rows, over `count` rows of a tensor.
template <class T>
__device__ __forceinline__ void add_weighted(const float* weights, const T* rows, std::int64_t stride,
                                             int count, int columns, float (&sums)[kColumns]) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int column = c * kLanes + static_cast<int>(threadIdx.x) % kLanes;
    if (column >= columns) break;
    for (int i = 0; i < count; ++i) sums[c] += weights[i] * to_f32(rows[i * stride + column]);
  }
}

template <class T>
__device__ __forceinline__ void store_sums(const float (&sums)[kColumns], float factor, int columns, T* row) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int column = c * kLanes + static_cast<int>(threadIdx.x) % kLanes;
    if (column < columns) row[column] = from_f32<T>(sums[c] * factor);
  }
}

__device__ __forceinline__ bool is_kept(const AttentionTask& task, const AttentionHead& head, int query,
                                        int key) {
  if (task.kept == nullptr) return true;
  return (kept_words(task, head)[key / kStripKeys * task.padded + query] >> key % kStripKeys & 1U) != 0;
}

template <class T>
__global__ void __launch_bounds__(kThreads) forward_kernel(AttentionTask task, const T* qkv, T* out) {
  const AttentionHead head = head_of_block(task);
  const auto [lane, query, shared] = place_of_warp();
  if (query >= head.rows) return;
  const std::int64_t hidden = task.hidden(), wide = 3 * hidden;
  const T* const q = qkv + head.at(query, wide);
  const T* const k = qkv + head.at(0, wide) + hidden;
  const int keys = task.causal ? min(head.keys, query + 1) : head.keys;
  float highest = -INFINITY, sum = 0.0F, sums[kColumns] = {};
  for (int key = 0; key < keys; key += kLanes) {
    const bool seen = key + lane < keys;
    const float score = seen ? dot(q, k + (key + lane) * wide, task.head_size) * task.scale_log2 : -INFINITY;
    const float higher = fmaxf(highest, reduce_warp(score, Max{}));
    const float p = exp2f(score - higher), shrink = exp2f(highest - higher);
    highest = higher;
    sum = sum * shrink + reduce_warp(p, Sum{});
    shared[0][lane] = seen && is_kept(task, head, query, key + lane) ? p : 0.0F;
    __syncwarp();
#pragma unroll
    for (float& s : sums) s *= shrink;
    add_weighted(shared[0], k + hidden + key * wide, wide, min(kLanes, keys - key), task.head_size, sums);
    __syncwarp();
  }
  if (lane == 0 && task.statistics != nullptr)  // where there was no key, so that 2^(score - it) is 0
    task.statistics[head.index * task.length + query] = sum > 0.0F ? highest + log2f(sum) : INFINITY;
  if (out != nullptr)
    store_sums(sums, sum > 0.0F ? task.keep_scale / sum : 0.0F, task.head_size, out + head.at(query, hidden));
}

// The gradient of a score, and the weight with which dout goes to the value.
struct Pair {
  float gradient, weight;
};

template <class T>
__device__ __forceinline__ Pair pair_of(const AttentionTask& task, const AttentionHead& head,
                                        const Tensors<T>& tensors, int query, int key, float delta) {
  const std::int64_t hidden = task.hidden(), wide = 3 * hidden;
  const T* const k = tensors.qkv + head.at(key, wide) + hidden;
  const float score = dot(tensors.qkv + head.at(query, wide), k, task.head_size) * task.scale_log2;
  const float p = exp2f(score - task.statistics[head.index * task.length + query]);
  const float gradient = dot(tensors.dout + head.at(query, hidden), k + hidden, task.head_size);
  const bool kept = is_kept(task, head, query, key);
  return {p * ((kept ? gradient * task.keep_scale : 0.0F) - delta), kept ? p : 0.0F};
}

template <class T>
__global__ void __launch_bounds__(kThreads) query_kernel(AttentionTask task, Tensors<T> tensors) {
  const AttentionHead head = head_of_block(task);
  const auto [lane, query, shared] = place_of_warp();
  if (query >= head.rows) return;
  const std::int64_t hidden = task.hidden(), wide = 3 * hidden, at = head.at(query, hidden);
  float delta = 0.0F, sums[kColumns] = {};
  for (int column = lane; column < task.head_size; column += kLanes)
    delta += to_f32(tensors.dout[at + column]) * to_f32(tensors.out[at + column]);
  delta = reduce_warp(delta, Sum{});
  if (lane == 0) task.deltas[head.index * task.length + query] = delta;
  const int keys = task.causal ? min(head.keys, query + 1) : head.keys;
  for (int key = 0; key < keys; key += kLanes) {
    const bool seen = key + lane < keys;
    shared[0][lane] = seen ? pair_of(task, head, tensors, query, key + lane, delta).gradient : 0.0F;
    __syncwarp();
    add_weighted(shared[0], tensors.qkv + head.at(key, wide) + hidden, wide, min(kLanes, keys - key),
                 task.head_size, sums);
    __syncwarp();
  }
  store_sums(sums, task.scale, task.head_size, tensors.dqkv + head.at(query, wide));
}

template <class T>
__global__ void __launch_bounds__(kThreads) key_kernel(AttentionTask task, Tensors<T> tensors) {
  const AttentionHead head = head_of_block(task);
  const auto [lane, key, shared] = place_of_warp();
  if (key >= head.rows) return;
  const std::int64_t hidden = task.hidden(), wide = 3 * hidden;
  float dkeys[kColumns] = {}, dvalues[kColumns] = {};
  const int begin = key >= head.keys ? head.rows : task.causal ? key : 0;
  for (int query = begin; query < head.rows; query += kLanes) {
    Pair pair{0.0F, 0.0F};
    if (query + lane < head.rows)
      pair = pair_of(task, head, tensors, query + lane, key,
                     task.deltas[head.index * task.length + query + lane]);
    shared[0][lane] = pair.gradient;
    shared[1][lane] = pair.weight;
    __syncwarp();
    const int count = min(kLanes, head.rows - query);
    add_weighted(shared[0], tensors.qkv + head.at(query, wide), wide, count, task.head_size, dkeys);
    add_weighted(shared[1], tensors.dout + head.at(query, hidden), hidden, count, task.head_size, dvalues);
    __syncwarp();
  }
  T* const to = tensors.dqkv + head.at(key, wide) + hidden;
  store_sums(dkeys, task.scale, task.head_size, to);
  store_sums(dvalues, task.keep_scale, task.head_size, to + hidden);
}

}  // namespace

void simple_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                              ConstTensorView qkv, TensorView out) {
  with_device_type(qkv.dtype, [&]<class T>(Type<T>) {
    launch_attention(context, "attention_forward", forward_kernel<T>, task, sequences, kWarps, kThreads, 0,
                     elements<T>(qkv), elements<T>(out));
  });
}

void simple_attention_backward(Context& context, const AttentionTask& task, std::int64_t sequences,
                               ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                               TensorView dqkv) {
  with_device_type(qkv.dtype, [&]<class T>(Type<T>) {
    const Tensors<T> tensors{elements<T>(qkv), elements<T>(out), elements<T>(dout), elements<T>(dqkv)};
    launch_attention(context, "attention_backward_queries", query_kernel<T>, task, sequences, kWarps,
                     kThreads, 0, tensors);
    launch_attention(context, "attention_backward_keys", key_kernel<T>, task, sequences, kWarps, kThreads, 0,
                     tensors);
  });
}

}  // namespace podium::ops::cuda
