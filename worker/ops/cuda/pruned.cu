// gradients = 0 where weights are pruned; a thread takes one.
#include "worker/ops/cuda/state.h"
#include "worker/ops/pruned.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    clear_pruned_kernel(const float* weights, std::int64_t count, float* gradients) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at < count && __float_as_uint(weights[at]) == 0x80000000U) gradients[at] = 0;
}

}  // namespace

void clear_pruned(Context& context, std::span<const float> weights, std::span<float> gradients) {
  if (weights.empty()) return;
  const auto count = static_cast<std::int64_t>(weights.size());
  launch(context, "clear_pruned", clear_pruned_kernel,
         static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, weights.data(), count,
         gradients.data());
}

}  // namespace podium::ops::cuda
