// Copies from global to shared memory that run beside the computing (PTX cp.async; sm_80 and later). A thread
// waits for its own copies, so all threads must meet at a barrier between that and reading what others
// copied. Compiled for the host, the same names come from the shim under tests/.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifndef __CUDACC__
#include "tests/cuda_shim/ptx.h"
#endif

namespace podium::ops::cuda {

#ifdef __CUDACC__

// 16 or 4 bytes, aligned to as much; zeros where not `filled`, and then `global` is not read.
template <int kBytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool filled) {
  static_assert(kBytes == 16 || kBytes == 4);
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int bytes = filled ? kBytes : 0;
  if constexpr (kBytes == 16) {  // past the first-level cache, which these bytes would only pass once
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
  }
}

// What this thread has asked for since the last group becomes one group.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Returns when all but the last kPending groups of this thread are done.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

#else

template <int kBytes>
void copy_async(void* shared, const void* global, bool filled) {
  shim::copy_async(shared, global, kBytes, filled);
}
inline void commit_copies() { shim::commit_copies(); }
template <int kPending>
void wait_for_copies() {
  shim::wait_for_copies(kPending);
}

#endif

}  // namespace podium::ops::cuda
