// BERT's input: y[t] = word[id[t]] + position[t mod length] + type[type[t]], tables in f32, y [tokens,
// hidden].
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct EmbeddingInput {
  std::span<const std::int32_t> ids;
  std::span<const std::int32_t> types;
  std::int64_t length = 0;  // tokens a sequence
};

void embedding_forward(Context& context, const EmbeddingInput& input, ConstTensorView word,
                       ConstTensorView position, ConstTensorView type, TensorView y);

// Adds to the tables' gradients, token by token in order: the same bits at every thread count.
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy, TensorView dword,
                        TensorView dposition, TensorView dtype);

}  // namespace podium::ops
