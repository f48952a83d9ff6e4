// Tiles of 16-bit rows in shared memory and a warp's products with them, for attention on tensor cores.
//
// A row of kColumns elements, a multiple of 16, takes one chunk of 16 bytes more: an odd number of chunks, so
// that the same chunk of eight neighbouring rows lies in eight different groups of banks. Neither ldmatrix
// nor cp.async nor the stores below then meet a bank conflict.
//
// A warp's matrices are 16 rows tall; sums [8 * kTiles columns] are kTiles fragments of mma.cuh.
#pragma once

#include <cstring>

#include "worker/ops/cuda/async_copy.cuh"
#include "worker/ops/cuda/ldmatrix.cuh"
#include "worker/ops/cuda/mma.cuh"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {

// Elements from one row of a tile to the next.
__host__ __device__ constexpr int tile_stride(int columns) { return columns + 8; }

__device__ __forceinline__ int lane_of_warp() { return static_cast<int>(threadIdx.x) % 32; }
__device__ __forceinline__ int fragment_row() { return lane_of_warp() / 4; }         // g of mma.cuh
__device__ __forceinline__ int fragment_column() { return lane_of_warp() % 4 * 2; }  // p

// All threads of the block start to copy kRows rows of a tensor; what lies at and beyond row `rows` and
// column `columns`, a multiple of 8, becomes zero.
template <int kThreads, int kRows, int kColumns, class T>
__device__ __forceinline__ void copy_tile(T* tile, const T* tensor, int stride, int rows, int columns) {
  constexpr int kChunks = kColumns / kVector;
#pragma unroll
  for (int i = 0; i < kRows * kChunks; i += kThreads) {
    const int chunk = i + static_cast<int>(threadIdx.x);
    const int row = chunk / kChunks, column = chunk % kChunks * kVector;
    if (kRows * kChunks % kThreads != 0 && row >= kRows) break;
    copy_async<16>(tile + row * tile_stride(kColumns) + column, tensor + row * stride + column,
                   row < rows && column < columns);
  }
}

// Rows [0, 16) and columns [0, 16) of what `tile` points to, as the left operand.
template <int kColumns, class T>
__device__ __forceinline__ MmaA load_left(const T* tile) {
  MmaA a;
  const int lane = lane_of_warp();
  load_matrices(tile + lane % 16 * tile_stride(kColumns) + lane / 16 * 8, a.words);
  return a;
}

// All columns of 16 rows, as left operands.
template <int kSteps, class T>
__device__ __forceinline__ void load_left_rows(const T* tile, MmaA (&a)[kSteps]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) a[step] = load_left<16 * kSteps>(tile + 16 * step);
}

// sums[r] += a[r] b^T, where b [8 * kTiles, 16 * kSteps] is a tile; a(r, step) gives columns
// [16 * step, 16 * step + 16) of a[r].
template <int kSteps, class T, class Left, int kRowTiles, int kTiles>
__device__ __forceinline__ void multiply_transposed(const Left& a, const T* b,
                                                    MmaSums (&sums)[kRowTiles][kTiles]) {
  const int lane = lane_of_warp();
  const T* const row = b + (lane / 16 * 8 + lane % 8) * tile_stride(16 * kSteps) + lane / 8 % 2 * 8;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    MmaA left[kRowTiles];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) left[r] = a(r, step);
#pragma unroll
    for (int tile = 0; tile < kTiles; tile += 2) {
      std::uint32_t words[4];
      load_matrices(row + 8 * tile * tile_stride(16 * kSteps) + 16 * step, words);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        mma<T>(left[r], {words[0], words[1]}, sums[r][tile]);
        mma<T>(left[r], {words[2], words[3]}, sums[r][tile + 1]);
      }
    }
  }
}

// sums[r] += a[r] b, where b [16 * kSteps, 8 * kTiles] is a tile.
template <class T, int kRowTiles, int kSteps, int kTiles>
__device__ __forceinline__ void multiply(const MmaA (&a)[kRowTiles][kSteps], const T* b,
                                         MmaSums (&sums)[kRowTiles][kTiles]) {
  const int lane = lane_of_warp();
  const T* const row = b + lane % 16 * tile_stride(8 * kTiles) + lane / 16 * 8;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int tile = 0; tile < kTiles; tile += 2) {
      std::uint32_t words[4];
      load_matrices_transposed(row + 16 * step * tile_stride(8 * kTiles) + 8 * tile, words);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        mma<T>(a[r][step], {words[0], words[1]}, sums[r][tile]);
        mma<T>(a[r][step], {words[2], words[3]}, sums[r][tile + 1]);
      }
    }
  }
}

// Two neighbouring elements of a row, the left one in the lower half.
template <class T>
__device__ std::uint32_t pack(float left, float right);
template <>
__device__ __forceinline__ std::uint32_t pack<__nv_bfloat16>(float left, float right) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(left, right);
  std::uint32_t word;
  memcpy(&word, &both, sizeof(word));
  return word;
}
template <>
__device__ __forceinline__ std::uint32_t pack<__half>(float left, float right) {
  const __half2 both = __floats2half2_rn(left, right);
  std::uint32_t word;
  memcpy(&word, &both, sizeof(word));
  return word;
}

// Sums rounded to T, as the left operand of the next product: the fragments' layouts are the same.
template <class T, int kRowTiles, int kTiles>
__device__ __forceinline__ void as_left(const MmaSums (&sums)[kRowTiles][kTiles],
                                        MmaA (&a)[kRowTiles][kTiles / 2]) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int step = 0; step < kTiles / 2; ++step) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const float* const values = sums[r][2 * step + word / 2].values + word % 2 * 2;
        a[r][step].words[word] = pack<T>(values[0], values[1]);
      }
    }
  }
}

// Rows of a tensor become sums * factor, factors being those of the fragment's two rows; 0 clears the row,
// whatever its sums. They go by way of `tile`, 16 rows that are this warp's own, to be written whole. Rows at
// and beyond `rows` and columns at and beyond `columns` are left alone.
template <class T, int kTiles>
__device__ __forceinline__ void store_rows(const MmaSums (&sums)[kTiles], const float (&factors)[2], T* tile,
                                           T* tensor, int stride, int rows, int columns) {
  constexpr int kColumns = 8 * kTiles, kChunks = kColumns / kVector;
  __syncwarp();  // the tile may hold what was stored last
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* const values = sums[t].values + 2 * half;
      const float factor = factors[half];
      auto* const to = tile + (fragment_row() + 8 * half) * tile_stride(kColumns) + 8 * t + fragment_column();
      *reinterpret_cast<std::uint32_t*>(to) =
          factor == 0.0F ? 0U : pack<T>(values[0] * factor, values[1] * factor);
    }
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 16 * kChunks; i += 32) {
    const int chunk = i + lane_of_warp();
    const int row = chunk / kChunks, column = chunk % kChunks * kVector;
    if (row < rows && column < columns)
      *reinterpret_cast<uint4*>(tensor + row * stride + column) =
          *reinterpret_cast<const uint4*>(tile + row * tile_stride(kColumns) + column);
  }
}

// 2^x, to about two units in the last place; 2^-infinity is 0.
__device__ __forceinline__ float fast_exp2(float x) {
#ifdef __CUDACC__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

}  // namespace podium::ops::cuda
