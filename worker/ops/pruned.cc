#include "worker/ops/pruned.h"

#include "common/base/check.h"
#include "worker/ops/backend.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void clear_pruned(Context& context, std::span<const float> weights, std::span<float> gradients) {
  PODIUM_CHECK(weights.size() == gradients.size(), "every weight has a gradient");
  const ProfileScope scope(context, "clear_pruned",
                           {.bytes = static_cast<double>(weights.size_bytes() + gradients.size_bytes())});
  backend(context).clear_pruned(context, weights, gradients);
}

}  // namespace podium::ops
