#include <cstdlib>
#include <string_view>

#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

#ifdef PODIUM_CUDA_HOPPER
constexpr bool kHasHopperKernels = true;
#else
constexpr bool kHasHopperKernels = false;
#endif

}  // namespace

void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw CudaError(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(error) + " (" +
                  cudaGetErrorName(error) + ")");
}

CudaState::CudaState(cudaStream_t stream) : stream_(stream) {
  int device = 0, major = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
             "asking for the device's compute capability");
  overlaps_launches_ = major >= 9;
  const char* const wanted = std::getenv("PODIUM_CUDA_WARPGROUPS");
  const bool refused = wanted != nullptr && std::string_view(wanted) == "0";
  multiplies_by_warpgroups_ = kHasHopperKernels && major == 9 && !refused;
}

CudaState::~CudaState() { cudaFree(scratch_); }

void* CudaState::scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  ++moves;
  check_cuda(cudaStreamSynchronize(stream_), "waiting for the ops that use scratch memory");
  check_cuda(cudaFree(scratch_), "freeing scratch memory");
  scratch_bytes_ = 0;
  check_cuda(cudaMalloc(&scratch_, bytes), "allocating scratch memory");
  scratch_bytes_ = bytes;
  return scratch_;
}

CudaState& cuda_state(Context& context) {
  if (!context.state) {
    DeviceStream* const stream = context.memory.stream;  // none: the device's default stream
    context.state = std::make_unique<CudaState>(
        stream == nullptr ? nullptr : static_cast<cudaStream_t>(stream->native()));
  }
  return static_cast<CudaState&>(*context.state);
}

}  // namespace podium::ops::cuda
