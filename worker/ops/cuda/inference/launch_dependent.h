// Launches kernels that follow the rule of dependent_launch.cuh.
#pragma once

#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

// `overlaps`: CudaState::overlaps_launches().
template <class... Parameters, class... Arguments>
void launch_dependent(Context& context, bool overlaps, const char* name, void (*kernel)(Parameters...),
                      dim3 grid, dim3 block, std::size_t shared_bytes, Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config{
      grid, block, shared_bytes, cuda_state(context).stream(), &attribute, overlaps ? 1U : 0U};
  check_cuda(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
}

}  // namespace podium::ops::cuda
