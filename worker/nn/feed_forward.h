// y = W_2 gelu(W_1 x), or where the family is gated y = W_2 (silu(V x) * (W_1 x)) (ops/swiglu.h). A
// tensor-parallel rank computes its share of the inner columns.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/parallel_linear.h"
#include "worker/ops/gelu.h"

namespace podium {

class FeedForward {
 public:
  struct Saved {
    // [all rows, this rank's inner columns]; in a gated layer `inner` has those of the gate and of W_1.
    TensorView inner, activated;
  };

  FeedForward(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int layer);

  // x and y [own rows, hidden].
  void forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved);
  // Replaces dx or adds to it. If a norm is the layer's last op, it adds up the gradient of W_2's bias.
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                bool accumulate, const Saved& saved);

  TensorView contract_bias_gradient() { return contract_.bias_gradient(); }

 private:
  std::int64_t inner_;
  bool gated_;
  ops::GeluKind gelu_;
  ColumnParallelLinear expand_;
  RowParallelLinear contract_;
};

}  // namespace podium
