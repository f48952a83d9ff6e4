#include "tests/cuda_shim/runtime.h"

#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/cuda_shim/devices.h"

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
    case cudaErrorInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice";
    case cudaErrorIllegalState:
      return "cudaErrorIllegalState";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit:
      return "cudaErrorStreamCaptureImplicit";
    case cudaErrorCapturedEvent:
      return "cudaErrorCapturedEvent";
  }
  return "unknown error";
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (const cudaError_t error = podium::shim::check_not_capturing(); error != cudaSuccess) return error;
  *memory = podium::shim::allocate_device_memory(bytes);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  if (const cudaError_t error = podium::shim::check_not_capturing(); error != cudaSuccess) return error;
  podium::shim::free_device_memory(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  if (const cudaError_t error = podium::shim::check_not_capturing(); error != cudaSuccess) return error;
  *memory = std::malloc(bytes);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  if (const cudaError_t error = podium::shim::check_not_capturing(); error != cudaSuccess) return error;
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const bool is_device = podium::shim::is_device_memory(address);
  *attributes = {is_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0};
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  if (value < 0 || static_cast<std::size_t>(value) > podium::shim::kSharedBytes) return cudaErrorInvalidValue;
  podium::shim::opted_in()[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = podium::shim::devices_shown;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= podium::shim::devices_shown) return cudaErrorInvalidValue;
  *properties = {"CUDA execution shim", {}, 9, 0, std::size_t{8} << 30};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return cudaErrorInvalidValue;
  switch (attribute) {
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(podium::shim::kSharedBytes);
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

// Since CUDA 12 this makes the device's context.
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= podium::shim::devices_shown) return cudaErrorInvalidValue;
  podium::shim::contexts_made |= 1U << device;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->maxThreadsPerBlock = static_cast<int>(podium::shim::kMaxThreads);
  return cudaSuccess;
}
