// The sum of a token's embeddings, y[t] = word[id[t]] + position[p[t]] + type[type[t]], tables in f32, y
// [tokens, hidden]. A table without an address adds nothing.
//
// Of a word table split over ranks by vocabulary each holds the rows from `first_id` on; ids outside of them
// give 0 here and their rows come from another rank, so that the ranks' sum is the whole.
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

struct EmbeddingInput {
  std::span<const std::int32_t> ids;
  std::span<const std::int32_t> types;           // needed by a type table alone
  std::int64_t length = 0;                       // token t stands at position t mod length, ...
  std::span<const std::int32_t> positions = {};  // ... unless its position is given here
  std::int64_t first_id = 0;                     // of the word table's rows
  std::int64_t vocabulary = 0;                   // of all ranks' parts together; 0: the word table is whole
  // For backward on a device: token_order of ids and, where these are given, of positions.
  std::span<const std::int32_t> id_order = {};
  std::span<const std::int32_t> position_order = {};
};

struct EmbeddingTables {
  ConstTensorView word;
  ConstTensorView position = {};
  ConstTensorView type = {};
};

struct EmbeddingGradients {
  TensorView word;
  TensorView position = {};
  TensorView type = {};
};

void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                       TensorView y);

// Adds to the tables' gradients, token by token in order: the same bits at every thread count.
void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                        const EmbeddingGradients& gradients);

}  // namespace podium::ops
