// What follows the sums of a product for inference (worker/ops/inference_linear.h).
#pragma once

#include "worker/ops/cpu/panel_product.h"
#include "worker/ops/inference_linear.h"

namespace podium::ops::cpu {

// From the sums of one tile, whose rows are `stride` elements apart, to that part of y. Overwrites the sums.
void finish_tile(const InferenceWeight& weight, const InferenceEpilogue& epilogue, const Tile& tile,
                 float* sums, std::int64_t stride, TensorView y);

}  // namespace podium::ops::cpu
