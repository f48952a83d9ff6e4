// The kernel of inference products with few rows of x, where reading the weight and the launch itself are
// what takes time: y^T = weight x^T on tensor cores, the weight being the left operand, so that rows of x
// come in eights and the weight may be 2:4 sparse.
//
// A block computes a tile [kOut, kRows] over its share of the slabs (tile.cuh): cp.async fills
// stages ahead of the products, and the finish (finish.cuh) is applied to the sums. What bounds it:
// the bytes that pass from the second-level cache to the multiprocessors, (kOut + kRows) * depth for a block,
// and below that the weight's bytes from memory (BERT-Large in f16: 604 MB, 0.14 ms at 4.3 TB/s). Small tiles
// give every multiprocessor a block, large ones pass fewer bytes. Where the outputs and rows are too few for
// both, `splits` blocks share the depth of a tile: each leaves its sums in memory, and the last to come adds
// all of them in their order, so that the result does not depend on which that is.
//
// The first stages of the weight are fetched while the kernel before this one still runs
// (dependent_launch.cuh).
#pragma once

#include "worker/ops/cuda/inference/dependent_launch.cuh"
#include "worker/ops/cuda/inference/finish.cuh"
#include "worker/ops/cuda/inference/tile.cuh"
#include "worker/ops/cuda/shared.cuh"

namespace podium::ops::cuda {

__device__ __forceinline__ int slabs_of(const InferenceTask& task) {
  return (task.weight_bytes + kPanelBytes - 1) / kPanelBytes;
}

template <class Tile>
__device__ __forceinline__ void copy_weight(const InferenceTask& task, int slab, unsigned char* stage) {
  const int first_out = static_cast<int>(blockIdx.y) * Tile::kOut;
  copy_panel<Tile::kThreads, Tile::kOut>(stage, task.weight, first_out, task.finish.out, slab * kPanelBytes,
                                         task.weight_bytes);
  if constexpr (Tile::kSparse) {
    constexpr int kBytes = kMetadataWords<typename Tile::T> * 4;  // of 16 outputs
    unsigned char* const to = stage + Tile::kWeightBytes + Tile::kXBytes;
    for (int at = static_cast<int>(threadIdx.x) * kChunkBytes; at < Tile::kMetadataBytes;
         at += Tile::kThreads * kChunkBytes) {
      const std::int64_t sixteen = first_out / 16 + at / kBytes;
      copy_async<16>(to + at, task.metadata + (sixteen * slabs_of(task) + slab) * kBytes + at % kBytes, true);
    }
  }
}

template <class Tile>
__device__ __forceinline__ void copy_x(const InferenceTask& task, int slab, unsigned char* stage) {
#pragma unroll
  for (int panel = 0; panel < Tile::kXPanels; ++panel)
    copy_panel<Tile::kThreads, Tile::kRows>(stage + Tile::kWeightBytes + panel * Tile::kRows * kPanelBytes,
                                            task.x, static_cast<int>(blockIdx.x) * Tile::kRows,
                                            task.finish.rows, (slab * Tile::kXPanels + panel) * kPanelBytes,
                                            task.x_bytes);
}

// sums = the products of slabs [first, first + count).
template <class Tile>
__device__ __forceinline__ void multiply_slabs(const InferenceTask& task, const WarpPlace& warp, int first,
                                               int count, TileSums<Tile>& sums) {
  constexpr int kAhead = Tile::kStages - 1;
  const auto stage = [](int slab) { return dynamic_shared + slab % Tile::kStages * Tile::kStageBytes; };
#pragma unroll
  for (int slab = 0; slab < kAhead; ++slab)
    if (slab < count) copy_weight<Tile>(task, first + slab, stage(slab));
  wait_for_previous();
#pragma unroll
  for (int slab = 0; slab < kAhead; ++slab) {
    if (slab < count) copy_x<Tile>(task, first + slab, stage(slab));
    commit_copies();
  }
  for (int slab = 0; slab < count; ++slab) {
    wait_for_copies<kAhead - 1>();
    __syncthreads();  // the slab is there, and the stage of the one before is free
    const int next = slab + kAhead;
    if (next < count) {
      copy_weight<Tile>(task, first + next, stage(next));
      copy_x<Tile>(task, first + next, stage(next));
    }
    commit_copies();
    multiply_slab<Tile>(stage(slab), warp, sums);
  }
}

// Eight neighbouring sums of a row.
template <class Sum>
struct alignas(16) EightSums {
  Sum values[kVector];

  __device__ __forceinline__ void add(const EightSums& other) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] += other.values[i];
  }
};

// How the threads share a tile after its products: thread's item i is eight neighbouring outputs of a row.
template <class Tile>
struct Items {
  static constexpr int kCount = Tile::kRows * Tile::kOut / kVector / Tile::kThreads;
  static_assert(kCount * kVector * Tile::kThreads == Tile::kRows * Tile::kOut);
  static_assert(Tile::kThreads % (Tile::kOut / kVector) == 0, "a thread's items share their outputs");
  static constexpr int kRowsApart = Tile::kThreads / (Tile::kOut / kVector);

  __device__ static int column() { return static_cast<int>(threadIdx.x) % (Tile::kOut / kVector) * kVector; }
  __device__ static int row(int i) {
    return static_cast<int>(threadIdx.x) / (Tile::kOut / kVector) + i * kRowsApart;
  }
};

// Adds what the warps that shared each slab have left in shared memory.
template <class Tile>
__device__ __forceinline__ void gather(EightSums<typename Tile::Sum> (&sums)[Items<Tile>::kCount]) {
  using Eight = EightSums<typename Tile::Sum>;
  const auto* const shared = reinterpret_cast<const typename Tile::Sum*>(dynamic_shared);
#pragma unroll
  for (int i = 0; i < Items<Tile>::kCount; ++i) {
    const auto* const from = shared + Items<Tile>::row(i) * Tile::kSumStride + Items<Tile>::column();
    sums[i] = *reinterpret_cast<const Eight*>(from);
#pragma unroll
    for (int depth = 1; depth < Tile::kWarpsDepth; ++depth)
      sums[i].add(*reinterpret_cast<const Eight*>(from + depth * Tile::kRows * Tile::kSumStride));
  }
}

// Whether this is the last block of its tile; then `sums` become those of all.
template <class Tile>
__device__ __forceinline__ bool combine(const InferenceTask& task,
                                        EightSums<typename Tile::Sum> (&sums)[Items<Tile>::kCount]) {
  using Eight = EightSums<typename Tile::Sum>;
  constexpr int kEights = Tile::kRows * Tile::kOut / kVector;
  const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
  Eight* const partial = static_cast<Eight*>(task.partial_sums) + std::int64_t{tile} * gridDim.z * kEights;
#pragma unroll
  for (int i = 0; i < Items<Tile>::kCount; ++i)
    partial[blockIdx.z * kEights + i * Tile::kThreads + threadIdx.x] = sums[i];
  __threadfence();
  __syncthreads();
  const bool is_last =
      __syncthreads_or(threadIdx.x == 0 && atomicAdd(&task.tickets[tile], 1U) == gridDim.z - 1) != 0;
  if (!is_last) return false;
  __threadfence();
  if (threadIdx.x == 0) task.tickets[tile] = 0;
#pragma unroll
  for (int i = 0; i < Items<Tile>::kCount; ++i) sums[i] = Eight{};
  for (unsigned split = 0; split < gridDim.z; ++split) {
#pragma unroll
    for (int i = 0; i < Items<Tile>::kCount; ++i) {
      uint4 words[2];
      const auto* const from =
          reinterpret_cast<const uint4*>(partial + split * kEights + i * Tile::kThreads + threadIdx.x);
      words[0] = __ldcg(from);  // other multiprocessors wrote it, which the first-level cache does not see
      words[1] = __ldcg(from + 1);
      Eight part;
      memcpy(&part, words, sizeof(part));
      sums[i].add(part);
    }
  }
  return true;
}

// Grid: (tiles of rows, tiles of outputs, splits); blocks with the same part of the weight are neighbours.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads)
    inference_kernel(const __grid_constant__ InferenceTask task) {
  let_next_start();
  const WarpPlace warp = warp_place<Tile>();
  const int column = static_cast<int>(blockIdx.y) * Tile::kOut + Items<Tile>::column();
  const int first_row = static_cast<int>(blockIdx.x) * Tile::kRows;
  const OutputFactors factors = load_factors(task.finish, column);
  const int slabs = slabs_of(task), splits = static_cast<int>(gridDim.z),
            split = static_cast<int>(blockIdx.z);
  const int first = slabs * split / splits, end = slabs * (split + 1) / splits;
  TileSums<Tile> sums;
  multiply_slabs<Tile>(task, warp, first, end - first, sums);
  __syncthreads();  // no stage is read any more
  store_sums<Tile>(warp, sums, reinterpret_cast<typename Tile::Sum*>(dynamic_shared));
  __syncthreads();

  EightSums<typename Tile::Sum> items[Items<Tile>::kCount];
  gather<Tile>(items);
  if (splits > 1 && !combine<Tile>(task, items)) return;
  RawResidual residuals[Items<Tile>::kCount];
  if (has_raw_residual(task.finish)) {
#pragma unroll
    for (int i = 0; i < Items<Tile>::kCount; ++i)
      load_raw_residual(task.finish, first_row + Items<Tile>::row(i), column, residuals[i]);
  }
#pragma unroll
  for (int i = 0; i < Items<Tile>::kCount; ++i) {
    float v[kVector];
#pragma unroll
    for (int j = 0; j < kVector; ++j) v[j] = static_cast<float>(items[i].values[j]);
    finish(task.finish, factors, residuals[i], first_row + Items<Tile>::row(i), column, v);
  }
}

}  // namespace podium::ops::cuda
