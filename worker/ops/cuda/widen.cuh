// e4m3 as f16, which holds every value of it: two elements in a register's lower half become two halves (PTX
// cvt.rn.f16x2.e4m3x2, sm_89 and later). Hopper's mma.sync multiplies no e4m3; ptxas would widen each operand
// anew for every product.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#ifndef __CUDACC__
#include "worker/tensor/dtype.h"
#endif

namespace podium::ops::cuda {

__device__ __forceinline__ std::uint32_t widen_e4m3(std::uint32_t pair) {
#ifdef __CUDACC__
  std::uint32_t halves = 0;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(pair)));
#else
  asm volatile("trap;");  // the op refuses e4m3 on such a device
#endif
  return halves;
#else
  const auto half = [&](unsigned index) {
    return to_float16(to_float(Float8E4M3{static_cast<std::uint8_t>(pair >> 8 * index)})).bits;
  };
  return half(0) | static_cast<std::uint32_t>(half(1)) << 16;
#endif
}

}  // namespace podium::ops::cuda
