// The part of the CUDA runtime that Podium's back end calls, over host memory. Sizes that a device would
// refuse are refused with the runtime's own codes; what a kernel does wrong is thrown as KernelError.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "tests/cuda_shim/vector_types.h"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
using cudaStream_t = struct CudaShimStream*;

const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
inline constexpr unsigned cudaStreamNonBlocking = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
inline cudaError_t cudaGetLastError() { return cudaSuccess; }  // a failed launch is its call's result here

struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace podium::shim {
cudaError_t check_launch(const cudaLaunchConfig_t& config, const void* kernel);
}

// As for a real launch, arguments are converted and copied before the kernel runs.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const cudaError_t error = podium::shim::check_launch(*config, reinterpret_cast<const void*>(kernel));
  if (error != cudaSuccess) return error;
  const std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
  podium::shim::run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                         [&] { std::apply(kernel, copies); });
  return cudaSuccess;
}
