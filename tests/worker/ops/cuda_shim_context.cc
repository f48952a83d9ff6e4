// The op suite on the CUDA back end's own sources, run by the execution shim.
#include "tests/worker/ops/inference_product.h"
#include "worker/ops/cuda/cuda_ops.h"

namespace podium::test {

Context make_context(int threads) {
  static const std::unique_ptr<ops::DeviceOps> cuda_ops = ops::cuda::make_cuda_ops();
  return Context{.device_ops = cuda_ops.get(), .threads = threads};
}

const ops::cuda::InferenceEntry& inference_entry() {
  static constexpr ops::cuda::InferenceEntry kEntry{ops::cuda::inference_ways, ops::cuda::compute};
  return kEntry;
}

bool device_has_e4m3() { return true; }

}  // namespace podium::test
