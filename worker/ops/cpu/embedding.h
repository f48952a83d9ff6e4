// CPU side of worker/ops/embedding.h.
#pragma once

#include "worker/ops/embedding.h"

namespace podium::ops::cpu {

void embedding_forward(Context& context, const EmbeddingInput& input, ConstTensorView word,
                       ConstTensorView position, ConstTensorView type, TensorView y);
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy, TensorView dword,
                        TensorView dposition, TensorView dtype);

}  // namespace podium::ops::cpu
