// Floating-point operations of a training step, as papers count them: forward and backward (3 x forward) of
// the matrix products, a multiplication and an addition each; attention as full matrices, causal or not;
// heads where they predict. Padding, recomputation and everything element-wise are not counted.
//
// For GPT this is 72 B s l h^2 (1 + s / 6h + V / 12lh), the formula of Narayanan et al. (2021) without
// recomputation.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/micro_batch.h"

namespace podium {

double training_flops(const ModelSpec& spec, const MicroBatch& batch);

}  // namespace podium
