// Multi-head self-attention with its projections: y = W_o attention(W_qkv x). Where positions turn queries
// and keys (ops/rotary_heads.h), that happens between the projection and attention. A tensor-parallel rank
// computes its share of the heads, and of those of keys and values.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/parallel_linear.h"
#include "worker/ops/attention.h"
#include "worker/ops/rotary_heads.h"

namespace podium {

class SelfAttention {
 public:
  struct Saved {
    TensorView qkv, heads_out;  // what attention read and wrote: [all rows, this rank's columns]
    TensorView probabilities;  // or what the back end keeps instead; no address: backward computes them again
  };

  SelfAttention(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int layer);

  // x and y [own rows, hidden].
  void forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved);
  // Replaces dx or adds to it. The norm behind attention adds up the gradient of the output's bias.
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                bool accumulate, const Saved& saved);

  TensorView output_bias_gradient() { return output_.bias_gradient(); }

 private:
  ops::AttentionShape shape(const PassContext& pass) const;
  ops::RotaryHeads rotary(const PassContext& pass) const;
  ops::Dropout dropout(const PassContext& pass) const;
  void project(const PassContext& pass, ConstTensorView x, TensorView qkv);
  void project_backward(const PassContext& pass, ConstTensorView x, ConstTensorView dqkv, TensorView dx,
                        bool accumulate);

  std::int64_t head_size_, total_heads_, heads_, key_value_heads_, first_head_;
  bool causal_, rotary_;
  double dropout_;
  std::uint32_t site_;
  ColumnParallelLinear query_key_value_;
  RowParallelLinear output_;
};

}  // namespace podium
