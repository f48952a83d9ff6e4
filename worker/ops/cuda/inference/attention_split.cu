// Attention forward for inference on few sequences, where attention_forward.cu would leave most of a device
// idle and each of its warps would walk over all keys alone. A block computes 16 queries of one head; of
// every 128 keys each of its four warps takes 32, with a softmax of its own, and in the end their results are
// joined:
//
//   M = max_w m_w    out = sum_w O_w 2^(m_w - M) / sum_w l_w 2^(m_w - M)
//
// At batch 1, length 128 and 16 heads that is 128 blocks, whose warps make one step each. Bound by latency;
// the kernel starts while the one before it ends (dependent_launch.cuh).
#include <type_traits>

#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/attention_launch.h"
#include "worker/ops/cuda/attention_softmax.cuh"
#include "worker/ops/cuda/inference/dependent_launch.cuh"
#include "worker/ops/cuda/inference/launch_dependent.h"
#include "worker/ops/cuda/quantise.cuh"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kQueries = 16, kWarpKeys = 32, kKeys = kWarps * kWarpKeys;
constexpr int kHeadSize = kQuantisedHeadSize, kSteps = kHeadSize / 16;
constexpr int kTile = kKeys * tile_stride(kHeadSize);  // elements
constexpr int kStage = 2 * kTile;                      // K and V
constexpr int kQueryTile = kQueries * tile_stride(kHeadSize);
constexpr std::size_t kSharedBytes = (2 * kStage + kQueryTile) * sizeof(std::uint16_t);
constexpr std::int64_t kFewBlocks = 132;  // of 64 queries: as many as an H100 or H200 has processors

// A warp's results for the block's queries, and all of theirs in shared memory.
struct WarpRows {
  MmaA queries[1][kSteps];
  MmaSums sums[1][2 * kSteps];
  Softmax<1> softmax;
};
struct Results {
  float highest[kWarps][kQueries];
  float sum[kWarps][kQueries];
  float rows[kWarps][kQueries][kHeadSize + 4];
};
static_assert(sizeof(Results) <= kSharedBytes, "results lie where the tiles were");

template <class T>
__device__ __forceinline__ void copy_keys_and_values(const AttentionTask& task, const AttentionHead& head,
                                                     const T* qkv, int key, T* stage) {
  const int stride = 3 * task.hidden();
  const T* const keys = qkv + head.at(key, stride) + task.hidden();
  copy_tile<kThreads, kKeys, kHeadSize>(stage, keys, stride, head.keys - key, task.head_size);
  copy_tile<kThreads, kKeys, kHeadSize>(stage + kTile, keys + task.hidden(), stride, head.keys - key,
                                        task.head_size);
}

// What follows from the warp's keys from `key` on, K and V in shared memory.
template <class T>
__device__ __forceinline__ void add_keys(const AttentionTask& task, const AttentionHead& head, int key,
                                         const T* keys, WarpRows& rows) {
  MmaSums scores[1][kWarpKeys / 8];
  multiply_transposed<kSteps>([&](int r, int step) { return rows.queries[r][step]; }, keys, scores);
  if (key + kWarpKeys > head.keys) mask(task, head, 0, key, scores);
  softmax(task.scale_log2, scores, rows.softmax, rows.sums);
  MmaA weights[1][kWarpKeys / 16];
  as_left<T>(scores, weights);
  multiply(weights, keys + kTile, rows.sums);
}

// Every warp's rows to shared memory, in units of the joint sum.
__device__ __forceinline__ void join(int warp, const WarpRows& rows, Results& results) {
  float own[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.softmax.sum[0][half];
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
    own[half] = rows.softmax.highest[0][half];
    const int row = fragment_row() + 8 * half;
    if (fragment_column() == 0) {
      results.highest[warp][row] = own[half];
      results.sum[warp][row] = sum;
    }
  }
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = fragment_row() + 8 * half;
    float highest = results.highest[0][row];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) highest = fmaxf(highest, results.highest[w][row]);
    float sum = 0.0F;
#pragma unroll
    for (int w = 0; w < kWarps; ++w)
      sum += results.sum[w][row] * fast_exp2(results.highest[w][row] - highest);
    const float factor = fast_exp2(own[half] - highest) / sum;
#pragma unroll
    for (int t = 0; t < 2 * kSteps; ++t)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        results.rows[warp][row][8 * t + fragment_column() + i] =
            rows.sums[0][t].values[2 * half + i] * factor;
  }
}

// Out is T, or an 8-bit type in units of 1 / out_factor.
template <class T, class Out>
__global__ void __launch_bounds__(kThreads)
    split_attention_kernel(AttentionTask task, const T* qkv, Out* out, float out_factor) {
  let_next_start();
  wait_for_previous();
  const AttentionHead head = head_of_block(task);
  const int query = static_cast<int>(blockIdx.x) * kQueries, warp = static_cast<int>(threadIdx.x) / 32;
  if (query >= head.rows) return;
  T* const stages = reinterpret_cast<T*>(dynamic_shared);
  T* const query_tile = stages + 2 * kStage;
  const int stride = 3 * task.hidden();
  copy_tile<kThreads, kQueries, kHeadSize>(query_tile, qkv + head.at(query, stride), stride,
                                           head.rows - query, task.head_size);
  copy_keys_and_values(task, head, qkv, 0, stages);
  commit_copies();
  WarpRows rows{};
  for (int key = 0, stage = 0; key < head.keys; key += kKeys, stage ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // all threads' copies of this stage are done, and nobody reads the other one any more
    if (key == 0) load_left_rows(query_tile, rows.queries[0]);
    if (key + kKeys < head.keys)
      copy_keys_and_values(task, head, qkv, key + kKeys, stages + (stage ^ 1) * kStage);
    commit_copies();
    const int own_key = key + kWarpKeys * warp;
    if (own_key < head.keys)
      add_keys(task, head, own_key, stages + stage * kStage + kWarpKeys * warp * tile_stride(kHeadSize),
               rows);
  }
  wait_for_copies<0>();
  __syncthreads();  // the stages are free
  Results& results = *reinterpret_cast<Results*>(dynamic_shared);
  join(warp, rows, results);
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / kVector,
            column = static_cast<int>(threadIdx.x) % kVector * kVector;
  float values[kVector] = {};
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] += results.rows[w][row][column + i];
  if (query + row >= head.rows || column >= task.head_size) return;
  Out* const to = out + head.at(query + row, task.hidden()) + column;
  if constexpr (std::is_same_v<Out, T>)
    store(to, 0, kVector, values);
  else
    store_quantised(to, 0, kVector, out_factor, values);
}

template <class T, class Out>
void launch_split(Context& context, const AttentionTask& task, std::int64_t sequences, ConstTensorView qkv,
                  TensorView out, float out_scale) {
  const auto kernel = split_attention_kernel<T, Out>;
  allow_shared_memory(kernel, kSharedBytes);
  launch_dependent(context, cuda_state(context).overlaps_launches(), "attention_forward", kernel,
                   attention_grid(task, sequences, kQueries), kThreads, kSharedBytes, task, elements<T>(qkv),
                   elements<Out>(out), 1.0F / out_scale);
}

}  // namespace

bool split_keys(const AttentionTask& task, std::int64_t sequences, DType qkv) {
  const std::int64_t blocks = sequences * task.heads * ((task.length + 63) / 64);
  return qkv != DType::f32 && !task.causal && task.head_size % kVector == 0 && task.head_size <= kHeadSize &&
         blocks < kFewBlocks;
}

void split_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                             ConstTensorView qkv, TensorView out, float out_scale) {
  if (is_quantised(out.dtype)) {
    return with_quantised_type(out.dtype, [&]<class Q>(Type<Q>) {
      launch_split<__half, Q>(context, task, sequences, qkv, out, out_scale);
    });
  }
  if (qkv.dtype == DType::bf16)
    return launch_split<__nv_bfloat16, __nv_bfloat16>(context, task, sequences, qkv, out, 1.0F);
  launch_split<__half, __half>(context, task, sequences, qkv, out, 1.0F);
}

}  // namespace podium::ops::cuda
