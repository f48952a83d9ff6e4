// Floating-point operations of training on a micro-batch (common/model/flops.h).
#pragma once

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

double training_flops(const ModelSpec& spec, const MicroBatch& batch);

}  // namespace podium
