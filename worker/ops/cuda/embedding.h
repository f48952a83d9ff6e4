// CUDA side of worker/ops/embedding.h.
#pragma once

#include "worker/ops/embedding.h"

namespace podium::ops::cuda {

void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                       TensorView y);
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                        const EmbeddingGradients& gradients);

}  // namespace podium::ops::cuda
