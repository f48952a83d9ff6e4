// Sparse training (training.sparse): weights of the layers' products are pruned once, before the first step,
// and stay so. A pruned weight is -0.0 (worker/ops/pruned.h): its gradient is cleared in every step, so that
// its moments stay 0 and an update leaves it as it is, and a run that goes on from a checkpoint finds there
// what is pruned.
#pragma once

#include "worker/nn/parameters.h"
#include "worker/tensor/context.h"

namespace podium {

// Of each four neighbouring inputs the two of smaller magnitude. Calls weights_changed().
void prune_two_of_four(ParameterStore& parameters);

// Clears the gradients of what is pruned.
void clear_pruned_gradients(Context& context, ParameterStore& parameters);

}  // namespace podium
