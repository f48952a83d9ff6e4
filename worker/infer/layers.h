// Parts of a model in the memory and types that inference reads them in.
#pragma once

#include <string>

#include "worker/formats/full_tensors.h"
#include "worker/infer/linear_data.h"
#include "worker/ops/inference_linear.h"
#include "worker/ops/layer_norm.h"
#include "worker/tensor/context.h"

namespace podium {

// The tensors stay where they are when it moves, and so do the views of `weight`.
struct DenseLayer {
  std::string name;
  Tensor values, positions, scales, bias;
  float input_scale = 1.0F;  // of an input in 8 bits
  ops::InferenceWeight weight;
};

struct NormLayer {
  Tensor gamma, beta;
  float epsilon = 0;

  ops::LayerNormParameters parameters() const { return {gamma.view(), beta.view(), epsilon}; }
};

// Copies into the context's memory. A vector becomes a tensor of one axis, f32.
Tensor place(const Context& context, DType type, const Shape& shape, const void* values);
Tensor place(const Context& context, const FullTensor& tensor);
// Without a bias where `data` has none.
DenseLayer place(const Context& context, const std::string& name, const LinearData& data);

}  // namespace podium
