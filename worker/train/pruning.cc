#include "worker/train/pruning.h"

#include <vector>

#include "common/base/check.h"
#include "worker/nn/two_of_four.h"
#include "worker/ops/pruned.h"

namespace podium {
namespace {

void prune_group(float* group) {
  const std::array<int, 2> kept = largest_two(group);
  for (int i = 0; i < kGroupOfTwo; ++i)
    group[i] = i == kept[0] || i == kept[1] ? group[i] + 0.0F : -0.0F;  // -0.0 + 0.0 is 0.0
}

}  // namespace

void prune_two_of_four(ParameterStore& parameters) {
  for (const Parameter& p : parameters.list()) {
    if (!p.prunable) continue;
    PODIUM_CHECK(p.shape[1] % kGroupOfTwo == 0, "no group of four inputs is cut");
    std::vector<float> values = parameters.memory().downloaded<float>(parameters.weights(p));
    for (std::size_t group = 0; group < values.size(); group += kGroupOfTwo) prune_group(&values[group]);
    parameters.memory().upload<float>(parameters.weights(p), values);
  }
  parameters.weights_changed();
}

void clear_pruned_gradients(Context& context, ParameterStore& parameters) {
  for (const Parameter& p : parameters.list())
    if (p.prunable) ops::clear_pruned(context, parameters.weights(p), parameters.gradients(p));
}

}  // namespace podium
