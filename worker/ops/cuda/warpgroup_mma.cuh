// A warpgroup's products on Hopper's tensor cores (PTX wgmma.mma_async.m64n64k16; sm_90a alone): d [64, 64] =
// a b^T of two tiles in shared memory, and d += a b with a in registers and b a tile. Each of the four warps
// holds 16 rows of d, and of such an a, in the fragments of mma.cuh; all of a block's four warps must call
// what stands here.
//
// Registers hold only an a that is new for each product: where they held the same queries in every pass over
// keys, an H200 computed from the second pass on what the last product's a gives (docs/gpu-results.md).
//
// A tile is 64 rows of 64 16-bit elements, 128 bytes each, at a multiple of 1024 bytes; its 16-byte chunk c
// of row r lies where chunk c ^ r % 8 would (the PTX manual's 128-byte swizzle). Neither the copies nor the
// products then meet a bank conflict. Compiled for the host, the instructions come from the shim under
// tests/.
#pragma once

#include "worker/ops/cuda/attention_tile.cuh"

#ifndef __CUDACC__
#include "tests/cuda_shim/warpgroup.h"
#endif

namespace podium::ops::cuda {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kTileRows = 64, kTileColumns = 64;
inline constexpr int kSwizzledTile = kTileRows * kTileColumns;  // elements
inline constexpr int kTileSteps = kTileColumns / 16;            // products that a tile takes

// Where the eight elements from (row, column) on lie in a tile.
__device__ __forceinline__ int swizzled(int row, int column) {
  return row * kTileColumns + ((column / kVector) ^ (row % 8)) * kVector;
}

// copy_tile() of attention_tile.cuh to a tile of this form.
template <class T>
__device__ __forceinline__ void copy_swizzled_tile(T* tile, const T* tensor, int stride, int rows,
                                                   int columns) {
  constexpr int kChunks = kTileColumns / kVector;
#pragma unroll
  for (int i = 0; i < kTileRows * kChunks; i += kWarpgroupThreads) {
    const int chunk = i + static_cast<int>(threadIdx.x);
    const int row = chunk / kChunks, column = chunk % kChunks * kVector;
    copy_async<16>(tile + swizzled(row, column), tensor + row * stride + column,
                   row < rows && column < columns);
  }
}

#ifdef __CUDACC__

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Between what this thread wrote to shared memory, by copies that it has waited for, too, and the products of
// all.
__device__ __forceinline__ void show_copies_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// PTX manual, "Matrix Descriptor Format": groups of eight rows are 1024 bytes apart, swizzled by 128 bytes.
template <class T>
__device__ __forceinline__ std::uint64_t descriptor_of(const T* operand) {
  constexpr std::uint64_t kForm =
      std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 16;
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(operand));
  return kForm | (address & 0x3ffffU) >> 4;
}

#define PODIUM_SUMS(t) "+f"(d[t].values[0]), "+f"(d[t].values[1]), "+f"(d[t].values[2]), "+f"(d[t].values[3])
#define PODIUM_ALL_SUMS                                                                           \
  PODIUM_SUMS(0), PODIUM_SUMS(1), PODIUM_SUMS(2), PODIUM_SUMS(3), PODIUM_SUMS(4), PODIUM_SUMS(5), \
      PODIUM_SUMS(6), PODIUM_SUMS(7)
#define PODIUM_WGMMA(type)                                                             \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                          \
  " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
#define PODIUM_WGMMA_OF_TILES(type)                                                                      \
  asm volatile(                                                                                          \
      "{ .reg .pred adds; setp.ne.b32 adds, %34, 0; " PODIUM_WGMMA(type) "%32, %33, adds, 1, 1, 0, 0; }" \
      : PODIUM_ALL_SUMS                                                                                  \
      : "l"(descriptor_of(a)), "l"(descriptor_of(b)), "r"(static_cast<int>(adds)))
#define PODIUM_WGMMA_OF_ROWS(type)                                         \
  asm volatile("{ .reg .pred adds; setp.eq.b32 adds, 0, 0; " PODIUM_WGMMA( \
                   type) "{%32, %33, %34, %35}, %36, adds, 1, 1, 1; }"     \
               : PODIUM_ALL_SUMS                                           \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "l"(descriptor_of(b)))

// d (+)= a b^T, of columns [0, 16) of what `a` and `b` point to in two tiles.
template <class T>
__device__ __forceinline__ void wgmma_of_tiles(const T* a, const T* b, bool adds, MmaSums (&d)[8]) {
  if constexpr (std::is_same_v<T, __half>) {
    PODIUM_WGMMA_OF_TILES("f16");
  } else {
    PODIUM_WGMMA_OF_TILES("bf16");
  }
}

// d += a b, of rows [0, 16) of what `b` points to in a tile.
template <class T>
__device__ __forceinline__ void wgmma_of_rows(const MmaA& a, const T* b, MmaSums (&d)[8]) {
  if constexpr (std::is_same_v<T, __half>) {
    PODIUM_WGMMA_OF_ROWS("f16");
  } else {
    PODIUM_WGMMA_OF_ROWS("bf16");
  }
}

#undef PODIUM_WGMMA_OF_ROWS
#undef PODIUM_WGMMA_OF_TILES
#undef PODIUM_WGMMA
#undef PODIUM_ALL_SUMS
#undef PODIUM_SUMS

#else  // another architecture, on which nobody launches these kernels

__device__ __forceinline__ void show_copies_to_products() { __trap(); }
__device__ __forceinline__ void fence_products() { __trap(); }
__device__ __forceinline__ void await_products() { __trap(); }
template <class T>
__device__ __forceinline__ void wgmma_of_tiles(const T*, const T*, bool, MmaSums (&)[8]) {
  __trap();
}
template <class T>
__device__ __forceinline__ void wgmma_of_rows(const MmaA&, const T*, MmaSums (&)[8]) {
  __trap();
}

#endif

// What is computed with these registers before this stays before it, and what after it after it.
__device__ __forceinline__ void pin(MmaSums (&sums)[8]) {
#pragma unroll
  for (int t = 0; t < 8; ++t) {
#pragma unroll
    for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sums[t].values[e])::"memory");
  }
}
__device__ __forceinline__ void pin(MmaA (&rows)[kTileSteps]) {
#pragma unroll
  for (int step = 0; step < kTileSteps; ++step) {
#pragma unroll
    for (int word = 0; word < 4; ++word) asm volatile("" : "+r"(rows[step].words[word])::"memory");
  }
}

#else

inline void show_copies_to_products() {}
inline void fence_products() {}
inline void await_products() {}
template <class T>
using ShimElement = std::conditional_t<std::is_same_v<T, __half>, Float16, BFloat16>;
template <class T>
void wgmma_of_tiles(const T* a, const T* b, bool adds, MmaSums (&d)[8]) {
  shim::wgmma_of_tiles<ShimElement<T> >(a, b, adds, &d[0].values[0]);
}
template <class T>
void wgmma_of_rows(const MmaA& a, const T* b, MmaSums (&d)[8]) {
  shim::wgmma_of_rows<ShimElement<T> >(a.words, b, &d[0].values[0]);
}
template <class Registers>
void pin(Registers&) {}

#endif

// In front of products and behind them, of all registers that take part in them.
template <class... Registers>
__device__ __forceinline__ void begin_products(Registers&... registers) {
  (pin(registers), ...);
  fence_products();
}
template <class... Registers>
__device__ __forceinline__ void wait_for_products(Registers&... registers) {
  await_products();
  (pin(registers), ...);
}

// Starts sums = a b^T of two tiles.
template <class T>
__device__ __forceinline__ void start_product_transposed(const T* a, const T* b, MmaSums (&sums)[8]) {
#pragma unroll
  for (int step = 0; step < kTileSteps; ++step) wgmma_of_tiles(a + 16 * step, b + 16 * step, step > 0, sums);
}

// Starts sums += a b of a tile b.
template <class T>
__device__ __forceinline__ void start_product(const MmaA (&a)[kTileSteps], const T* b, MmaSums (&sums)[8]) {
#pragma unroll
  for (int step = 0; step < kTileSteps; ++step) wgmma_of_rows(a[step], b + 16 * step * kTileColumns, sums);
}

}  // namespace podium::ops::cuda
