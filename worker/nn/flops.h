// Floating-point operations of a micro-batch (common/model/flops.h).
#pragma once

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

// Of all layers, forward; padding not counted.
double layers_flops(const ModelSpec& spec, const MicroBatch& batch);

}  // namespace podium
