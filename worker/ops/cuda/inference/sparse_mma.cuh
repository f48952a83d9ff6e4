// Tensor-core products with a 2:4 sparse left operand (PTX mma.sp): of each four neighbouring columns of a
// two are kept, so that a row's 32 bytes stand for as many columns as 64 have. d [16, 8] += a [16, 2 depth]
// b [2 depth, 8]: m16n8k32 of f16 and bf16, m16n8k64 of i8.
//
// d and the kept elements of a lie as in mma.cuh; of b, lane's bytes 4 p to 4 p + 3 of column g and those 16,
// 32 and 48 further on. The metadata has four bits for each four columns: where the two kept ones stand, two
// bits each, ascending. PTX manual, "Matrix Fragments for sparse mma.m16n8k32" and "m16n8k64", with sparsity
// selector 0; in bits from the lowest up, p = lane % 4, g = lane / 4:
//
//   16-bit types  p = 0, 1: columns 16 p to 16 p + 15 of row g, then of row g + 8;  p = 2, 3: not looked at
//   i8            columns 32 (p / 2) to 32 (p / 2) + 31 of row g + 8 (p % 2)
//
// sm_80 and later.
#pragma once

#include "worker/ops/cuda/mma.cuh"

namespace podium::ops::cuda {

struct MmaSparseB {
  std::uint32_t words[4];
};

template <class T>
__device__ void mma_sparse(const MmaA& a, const MmaSparseB& b, std::uint32_t metadata,
                           MmaSumsOf<MmaSum<T>>& d);

#ifdef __CUDACC__

// The spelling since CUDA 12.5: without ordered_metadata it may run slowly on later devices.
#define PODIUM_MMA_SPARSE(shape, sum, type, constraint)                                                 \
  asm volatile("mma.sp::ordered_metadata.sync.aligned." shape ".row.col." sum "." type "." type "." sum \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"   \
               : constraint(d.values[0]), constraint(d.values[1]), constraint(d.values[2]),             \
                 constraint(d.values[3])                                                                \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]),   \
                 "r"(b.words[1]), "r"(b.words[2]), "r"(b.words[3]), "r"(metadata))

template <>
__device__ __forceinline__ void mma_sparse<__nv_bfloat16>(const MmaA& a, const MmaSparseB& b,
                                                          std::uint32_t metadata, MmaSums& d) {
  PODIUM_MMA_SPARSE("m16n8k32", "f32", "bf16", "+f");
}
template <>
__device__ __forceinline__ void mma_sparse<__half>(const MmaA& a, const MmaSparseB& b, std::uint32_t metadata,
                                                   MmaSums& d) {
  PODIUM_MMA_SPARSE("m16n8k32", "f32", "f16", "+f");
}
template <>
__device__ __forceinline__ void mma_sparse<std::int8_t>(const MmaA& a, const MmaSparseB& b,
                                                        std::uint32_t metadata, MmaSumsOf<int>& d) {
  PODIUM_MMA_SPARSE("m16n8k64", "s32", "s8", "+r");
}

#undef PODIUM_MMA_SPARSE

#else

template <>
inline void mma_sparse<__nv_bfloat16>(const MmaA& a, const MmaSparseB& b, std::uint32_t metadata,
                                      MmaSums& d) {
  shim::mma_sparse<BFloat16>(a.words, b.words, d.values, metadata);
}
template <>
inline void mma_sparse<__half>(const MmaA& a, const MmaSparseB& b, std::uint32_t metadata, MmaSums& d) {
  shim::mma_sparse<Float16>(a.words, b.words, d.values, metadata);
}
template <>
inline void mma_sparse<std::int8_t>(const MmaA& a, const MmaSparseB& b, std::uint32_t metadata,
                                    MmaSumsOf<int>& d) {
  shim::mma_sparse<std::int8_t>(a.words, b.words, d.values, metadata);
}

#endif

}  // namespace podium::ops::cuda
