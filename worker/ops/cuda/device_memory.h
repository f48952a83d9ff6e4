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

}  // namespace podium::ops::cuda
