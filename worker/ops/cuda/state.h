// What the CUDA back end keeps in a Context between calls, and how its ops launch kernels. All work of a
// context is put on its one stream, so an op's temporaries may be overwritten by the next op.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "worker/tensor/context.h"

namespace podium::ops::cuda {

struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check_cuda(cudaError_t error, const char* what);

class CudaState final : public BackendState {
 public:
  explicit CudaState(cudaStream_t stream);
  ~CudaState() override;

  cudaStream_t stream() const { return stream_; }
  // Whether the device knows dependent launches (compute capability 9.0; see inference/dependent_launch.cuh).
  bool overlaps_launches() const { return overlaps_launches_; }
  // Whether device and library have Hopper's products; PODIUM_CUDA_WARPGROUPS=0 does without them.
  bool multiplies_by_warpgroups() const { return multiplies_by_warpgroups_; }
  // Device memory for one op's temporaries, valid until the next call. It grows during the first step.
  void* scratch(std::size_t bytes);

  std::unique_ptr<BackendState> products;   // of products.cc, made by the first product
  std::unique_ptr<BackendState> inference;  // of inference/linear.cc, likewise

 private:
  cudaStream_t stream_;
  bool overlaps_launches_ = false;
  bool multiplies_by_warpgroups_ = false;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

// The context's state, made at the first call.
CudaState& cuda_state(Context& context);

template <class... Parameters, class... Arguments>
void launch(Context& context, const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, Arguments&&... arguments) {
  const cudaLaunchConfig_t config{grid, block, shared_bytes, cuda_state(context).stream(), nullptr, 0};
  check_cuda(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
}

}  // namespace podium::ops::cuda
