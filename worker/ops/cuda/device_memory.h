// Memory of the device that is freed with its owner.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, DeviceFree>;

inline DeviceMemory allocate(std::size_t bytes, const char* what) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes), what);
  return DeviceMemory(memory);
}

// None where there is no room.
inline DeviceMemory allocate_if_there_is_room(std::size_t bytes, const char* what) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error != cudaErrorMemoryAllocation) check_cuda(error, what);
  if (error != cudaSuccess) cudaGetLastError();  // an error stays until it is read
  return DeviceMemory(memory);
}

}  // namespace podium::ops::cuda
