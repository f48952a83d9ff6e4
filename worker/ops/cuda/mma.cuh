// The tensor-core product that CUDA C++ has no function for: d [16, 8] += a [16, 16] b [16, 8], sums in f32.
// PTX manual, "Matrix Fragments for mma.m16n8k16 with floating point type". With g = lane / 4 and
// p = lane % 4 * 2 a lane holds
//
//   a  rows g, g + 8;  columns p, p + 1, p + 8, p + 9     b  rows p, p + 1, p + 8, p + 9;  column g
//   d  rows g, g + 8;  columns p, p + 1
//
// sm_80 and later. Compiled for the host, the same names come from the shim under tests/.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#ifndef __CUDACC__
#include "tests/cuda_shim/ptx.h"
#endif

namespace podium::ops::cuda {

struct MmaA {
  std::uint32_t words[4];  // (g, p), (g + 8, p), (g, p + 8), (g + 8, p + 8), with the next column above
};
struct MmaB {
  std::uint32_t words[2];  // (p, g), (p + 8, g), with the next row above
};
struct MmaSums {
  float values[4] = {0, 0, 0, 0};  // (g, p), (g, p + 1), (g + 8, p), (g + 8, p + 1)
};

template <class T>
__device__ void mma(const MmaA& a, const MmaB& b, MmaSums& d);

#ifdef __CUDACC__

#define PODIUM_MMA(type)                                                                              \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                 \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                 \
               : "+f"(d.values[0]), "+f"(d.values[1]), "+f"(d.values[2]), "+f"(d.values[3])           \
               : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), \
                 "r"(b.words[1]))

template <>
__device__ __forceinline__ void mma<__nv_bfloat16>(const MmaA& a, const MmaB& b, MmaSums& d) {
  PODIUM_MMA("bf16");
}
template <>
__device__ __forceinline__ void mma<__half>(const MmaA& a, const MmaB& b, MmaSums& d) {
  PODIUM_MMA("f16");
}

#undef PODIUM_MMA

#else

template <>
inline void mma<__nv_bfloat16>(const MmaA& a, const MmaB& b, MmaSums& d) {
  shim::mma_m16n8k16<BFloat16>(a.words, b.words, d.values);
}
template <>
inline void mma<__half>(const MmaA& a, const MmaB& b, MmaSums& d) {
  shim::mma_m16n8k16<Float16>(a.words, b.words, d.values);
}

#endif

}  // namespace podium::ops::cuda
