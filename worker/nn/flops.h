// Floating-point operations of a micro-batch (common/model/flops.h).
#pragma once

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

// Counts the forward pass of all layers, without padding.
double layers_flops(const ModelSpec& spec, const MicroBatch& batch);

}  // namespace podium
