// What stands between the fused projection and attention where positions turn queries and keys (RoPE; Su et
// al., 2021) and groups of heads share keys and values (GQA; Ainslie et al., 2023).
//
//   x [rows, (heads + 2 * key_value_heads) * d]   queries, keys and values side by side
//   y [rows, 3 * heads * d]                       as attention reads them: queries and keys turned, each head
//                                                 of keys and values once for every head of its group
//
// Heads that follow one another form a group. At position p a head of queries or keys is turned by pairs
// (i, i + d/2), as Hugging Face's transformers pairs them:
//
//   y[i] = x[i] cos(p w_i) - x[i + d/2] sin(p w_i)       w_i = theta^(-2i/d)
//   y[i + d/2] = x[i + d/2] cos(p w_i) + x[i] sin(p w_i)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// Of `positions` rows, row-major [positions, d]: the cosines of all pairs, then their sines.
std::vector<float> rotary_table(double theta, std::int64_t positions, std::int64_t head_size);

struct RotaryHeads {
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;  // divides heads
  std::int64_t head_size = 0;        // d, even
  std::int64_t length = 0;           // row r stands at position r mod length, ...
  // ... unless its position is given here. Lies where the tensors do.
  std::span<const std::int32_t> positions = {};
  ConstTensorView table;  // rotary_table(), f32 [positions, d]

  std::int64_t group() const { return heads / key_value_heads; }
  std::int64_t projected() const { return (heads + 2 * key_value_heads) * head_size; }
  std::int64_t expanded() const { return 3 * heads * head_size; }
};

void rotary_heads_forward(Context& context, const RotaryHeads& rotary, ConstTensorView x, TensorView y);
// Adds up the gradients of a group in the order of its heads, in f32, and turns back.
void rotary_heads_backward(Context& context, const RotaryHeads& rotary, ConstTensorView dy, TensorView dx);

}  // namespace podium::ops
