#include "worker/ops/pruned.h"

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {

void clear_pruned(Context& context, std::span<const float> weights, std::span<float> gradients) {
  constexpr std::int64_t kGrain = 4096;
  const float* const weight = weights.data();
  float* const gradient = gradients.data();
  parallel_ranges(context.threads, static_cast<std::int64_t>(weights.size()), kGrain, [=](Range range, int) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      gradient[i] = is_pruned(weight[i]) ? 0.0F : gradient[i];
  });
}

}  // namespace podium::ops::cpu
