// The tensor-core products that CUDA C++ has no function for: d [16, 8] += a [16, depth] b [depth, 8], where
// a row of a and a column of b have 32 bytes: m16n8k16 of f16 and bf16, m16n8k32 of i8. Sums are f32, of i8
// i32. PTX manual, "Matrix Fragments for mma.m16n8k16 with floating point type" and "for mma.m16n8k32". With
// g = lane / 4 and p = lane % 4 a lane holds
//
//   a  rows g, g + 8;  bytes 4 p to 4 p + 3 and 16 further on
//   b  column g;  the same bytes
//   d  rows g, g + 8;  columns 2 p, 2 p + 1
//
// sm_80 and later. Compiled for the host, the same names come from the shim under tests/.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#ifndef __CUDACC__
#include "tests/cuda_shim/ptx.h"
#endif

namespace podium::ops::cuda {

template <class T>
using MmaSum = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;

struct MmaA {
  std::uint32_t words[4];  // (g, 4 p), (g + 8, 4 p), (g, 4 p + 16), (g + 8, 4 p + 16), in rows and bytes
};
struct MmaB {
  std::uint32_t words[2];  // bytes 4 p and 4 p + 16 of column g
};
template <class Sum>
struct MmaSumsOf {
  Sum values[4] = {0, 0, 0, 0};  // (g, 2 p), (g, 2 p + 1), (g + 8, 2 p), (g + 8, 2 p + 1)
};
using MmaSums = MmaSumsOf<float>;

template <class T>
__device__ void mma(const MmaA& a, const MmaB& b, MmaSumsOf<MmaSum<T>>& d);

#ifdef __CUDACC__

#define PODIUM_MMA(shape, sum, type, constraint)                                                      \
  asm volatile("mma.sync.aligned." shape ".row.col." sum "." type "." type "." sum                    \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                     \
               : constraint(d.values[0]), constraint(d.values[1]), constraint(d.values[2]),           \
                 constraint(d.values[3])                                                              \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), \
                 "r"(b.words[1]))

template <>
__device__ __forceinline__ void mma<__nv_bfloat16>(const MmaA& a, const MmaB& b, MmaSums& d) {
  PODIUM_MMA("m16n8k16", "f32", "bf16", "+f");
}
template <>
__device__ __forceinline__ void mma<__half>(const MmaA& a, const MmaB& b, MmaSums& d) {
  PODIUM_MMA("m16n8k16", "f32", "f16", "+f");
}
template <>
__device__ __forceinline__ void mma<std::int8_t>(const MmaA& a, const MmaB& b, MmaSumsOf<int>& d) {
  PODIUM_MMA("m16n8k32", "s32", "s8", "+r");
}

#undef PODIUM_MMA

#else

template <>
inline void mma<__nv_bfloat16>(const MmaA& a, const MmaB& b, MmaSums& d) {
  shim::mma<BFloat16>(a.words, b.words, d.values);
}
template <>
inline void mma<__half>(const MmaA& a, const MmaB& b, MmaSums& d) {
  shim::mma<Float16>(a.words, b.words, d.values);
}
template <>
inline void mma<std::int8_t>(const MmaA& a, const MmaB& b, MmaSumsOf<int>& d) {
  shim::mma<std::int8_t>(a.words, b.words, d.values);
}

#endif

}  // namespace podium::ops::cuda
