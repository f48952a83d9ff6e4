#include "tests/cuda_shim/runtime.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace podium::shim {
namespace {

constexpr std::size_t kDefaultSharedBytes = 48 << 10;  // beyond it a kernel must opt in
constexpr unsigned kMaxGridYz = 65535;

std::map<const void*, std::size_t>& opted_in() {
  static thread_local std::map<const void*, std::size_t> kernels;
  return kernels;
}

}  // namespace

cudaError_t check_launch(const cudaLaunchConfig_t& config, const void* kernel) {
  const std::size_t threads = config.blockDim.count();
  const bool shaped = threads > 0 && threads <= kMaxThreads && config.gridDim.count() > 0 &&
                      config.gridDim.y <= kMaxGridYz && config.gridDim.z <= kMaxGridYz;
  if (!shaped) return cudaErrorInvalidConfiguration;
  const auto found = opted_in().find(kernel);
  const std::size_t allowed = found == opted_in().end() ? kDefaultSharedBytes : found->second;
  return config.dynamicSmemBytes <= allowed ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace podium::shim

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
  }
  return "unknown error";
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

// Memory begins as NaNs, so that reading what nobody wrote shows.
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xFF, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  if (value < 0 || static_cast<std::size_t>(value) > podium::shim::kSharedBytes) return cudaErrorInvalidValue;
  podium::shim::opted_in()[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}
