// CUDA side of worker/ops/inference_linear.h. A product goes by a kernel of our own, made for few rows, or by
// cuBLASLt and a kernel for what follows its sums. Which one is chosen when a product's sizes and types first
// come up: in a deterministic context the one that costs least by rule, else the fastest of those that cost
// little, timed with the weight in memory and not in a cache, as it lies between one inference and the next.
// The first product with a weight must not be while a graph is recorded.
//
// Rows of the weight and of x are whole multiples of 16 bytes, unless cuBLASLt computes them.
#pragma once

#include <vector>

#include "worker/ops/cuda/inference/plan.h"
#include "worker/ops/inference_linear.h"

namespace podium::ops::cuda {

void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                      const InferenceEpilogue& epilogue, TensorView y);

// One way of computing a product.
struct InferenceWay {
  bool library = false;  // cuBLASLt, else by tiles as planned
  TilePlan plan = {};

  bool operator==(const InferenceWay&) const = default;
};

struct InferenceProduct {
  ConstTensorView x;
  InferenceWeight& weight;
  const InferenceEpilogue& epilogue;
  TensorView y;
};

// All ways of computing it on this device, the first by rule in front; cuBLASLt may refuse its own.
std::vector<InferenceWay> inference_ways(Context& context, const InferenceProduct& product);
// False: refused, and nothing has been computed.
bool compute(Context& context, const InferenceProduct& product, const InferenceWay& way);

}  // namespace podium::ops::cuda
