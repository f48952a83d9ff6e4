// Multi-head self-attention with its projections: y = W_o attention(W_qkv x). A tensor-parallel rank computes
// its share of the heads.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/parallel_linear.h"
#include "worker/ops/attention.h"

namespace podium {

class SelfAttention {
 public:
  struct Saved {
    TensorView qkv, heads_out;  // [all rows, this rank's columns]
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
  ops::Dropout dropout(const PassContext& pass) const;

  std::int64_t head_size_, total_heads_, heads_, first_head_;
  bool causal_;
  double dropout_;
  std::uint32_t site_;
  ColumnParallelLinear query_key_value_;
  RowParallelLinear output_;
};

}  // namespace podium
