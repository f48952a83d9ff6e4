// Four 8x8 matrices of 16-bit elements from shared memory into a warp's registers, as the operands of mma.cuh
// want them (PTX ldmatrix.x4; sm_75 and later). Lane i names row i % 8 of matrix i / 8: eight elements,
// aligned to 16 bytes. words[m] becomes elements (lane / 4, lane % 4 * 2) and the next column's of matrix m;
// transposed, elements (lane % 4 * 2, lane / 4) and the next row's.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifndef __CUDACC__
#include "tests/cuda_shim/ptx.h"
#endif

namespace podium::ops::cuda {

#ifdef __CUDACC__

__device__ __forceinline__ void load_matrices(const void* row, std::uint32_t (&words)[4]) {
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(const void* row, std::uint32_t (&words)[4]) {
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

#else

inline void load_matrices(const void* row, std::uint32_t (&words)[4]) {
  shim::ldmatrix_x4<false>(row, words);
}
inline void load_matrices_transposed(const void* row, std::uint32_t (&words)[4]) {
  shim::ldmatrix_x4<true>(row, words);
}

#endif

}  // namespace podium::ops::cuda
