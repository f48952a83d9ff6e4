// Programmatic dependent launch (sm_90 and later; nothing elsewhere): a kernel may start while the one before
// it in the stream still runs, as soon as all blocks of that one have called let_next_start() or ended. Until
// wait_for_previous() it may only read what no kernel writes, such as weights; from there on all that earlier
// kernels wrote is there. Every kernel launched so (launch_dependent in launch_dependent.h) must call
// wait_for_previous() in all its threads before it touches anything else, and before it ends: the kernel
// after it waits for this one alone and trusts it to have waited for those before.
#pragma once

#include <cuda_runtime.h>

namespace podium::ops::cuda {

__device__ __forceinline__ void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Called early: the next kernel's blocks take what room this one leaves on the multiprocessors.
__device__ __forceinline__ void let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace podium::ops::cuda
