// The launches that CUDA's attention is made of. `hidden` of the tensors holds the task's heads.
#pragma once

#include "worker/ops/attention.h"
#include "worker/ops/cuda/attention_task.cuh"
#include "worker/ops/quantised.h"

namespace podium::ops::cuda {

// Whether the dropout keeps (query, key), for every pair that may look at each other, to the task's `kept`.
void draw_kept(Context& context, const AttentionTask& task, const AttentionShape& shape,
               const Dropout& dropout);

// Tensor cores: 16-bit types and head sizes that are a multiple of 8 and at most this.
inline constexpr std::int64_t kMaxTiledHeadSize = 128;
inline constexpr int kQuantisedHeadSize = 64;

// Sets the task's statistics where it has an address for them; `out` may lack one.
void tiled_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                             ConstTensorView qkv, TensorView out);
// Of f16, heads of at most kQuantisedHeadSize columns; without dropout.
void tiled_attention_forward_quantised(Context& context, const AttentionTask& task, std::int64_t sequences,
                                       ConstTensorView qkv, const QuantisedCopy& out);
// Where so few blocks would have work that keys are better split over a block's warps; without dropout.
bool split_keys(const AttentionTask& task, std::int64_t sequences, DType qkv);
void split_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                             ConstTensorView qkv, TensorView out, float out_scale);
// Each block of the two kernels below computes the gradients of so many rows of a head, and leaves their
// column sums as its row of the task's partial sums, where the task has an address for these.
inline constexpr int kGradientRows = 64;
// The queries' gradient and the task's deltas, from which comes the keys' and values'.
void tiled_attention_backward_queries(Context& context, const AttentionTask& task, std::int64_t sequences,
                                      ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                                      TensorView dqkv);
void tiled_attention_backward_keys(Context& context, const AttentionTask& task, std::int64_t sequences,
                                   ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                                   TensorView dqkv);

// Any float type, head sizes up to this.
inline constexpr std::int64_t kMaxHeadSize = 256;

void simple_attention_forward(Context& context, const AttentionTask& task, std::int64_t sequences,
                              ConstTensorView qkv, TensorView out);
void simple_attention_backward(Context& context, const AttentionTask& task, std::int64_t sequences,
                               ConstTensorView dout, ConstTensorView out, ConstTensorView qkv,
                               TensorView dqkv);

}  // namespace podium::ops::cuda
