// The op suite on the CUDA back end's own sources, run by the execution shim.
#include "tests/worker/ops/inference_product.h"
#include "worker/ops/cuda/backend.h"

namespace podium::test {

const double kFloat8SumTolerance = 1e-6;

Context make_context(int threads) { return Context{.backend = &ops::cuda::kBackend, .threads = threads}; }

const ops::cuda::InferenceEntry& inference_entry() {
  static constexpr ops::cuda::InferenceEntry kEntry{ops::cuda::inference_ways, ops::cuda::compute};
  return kEntry;
}

bool device_has_e4m3() { return true; }

}  // namespace podium::test
