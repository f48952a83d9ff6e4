// The two kinds of dense layer that a tensor-parallel group shares (Shoeybi et al., 2019): the first spreads
// its outputs over the ranks, the second takes inputs spread that way and sums over the ranks.
//
// Where the pass asks for FP8 they multiply in it: x, W and dy are converted on each rank as it holds them,
// with scales of its own. dy is converted once for both of its products.
#pragma once

#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"

namespace podium {

// Who adds up the gradient of the bias: the layer's own backward, or that of the op behind it, which has it
// in hand anyway (LayerNormGradients::branch_bias).
enum class BiasGradient { here, behind };

// The gradient of a layer's output, in the form or forms that its products read.
struct OutputGradient {
  ConstTensorView dy;
  ops::Float8Matrix in_float8;  // where the pass multiplies in FP8
};

// x [own rows, in] -> y [all rows, this rank's outputs]. The gradient of the bias is added up by the op
// behind (ProductOptions::column_sums, ops::attention_backward).
class ColumnParallelLinear {
 public:
  ColumnParallelLinear(ParameterStore& store, const TensorGroup& tensor,
                       const std::vector<std::string>& names, std::int64_t out, std::int64_t in);

  void forward(const PassContext& pass, ConstTensorView x, TensorView y);
  // Likewise, with a GELU behind it; `saved` like y.
  void gelu_forward(const PassContext& pass, ConstTensorView x, ops::GeluKind kind, TensorView saved,
                    TensorView y);
  // Replaces dx or adds to it.
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                bool accumulate);

  TensorView bias_gradient() { return linear_.bias_gradient(); }

 private:
  void backward_own_rows(const PassContext& pass, const OutputGradient& dy, TensorView dx, bool accumulate);

  Linear linear_;
};

// x [all rows, this rank's inputs] -> y [own rows, out].
class RowParallelLinear {
 public:
  RowParallelLinear(ParameterStore& store, const TensorGroup& tensor, const std::string& name,
                    std::int64_t out, std::int64_t in, double deviation, BiasGradient bias_gradient);

  void forward(const PassContext& pass, ConstTensorView x, TensorView y);
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                const ops::ProductOptions& options = {});

  TensorView bias_gradient() { return linear_.bias_gradient(); }

 private:
  BiasGradient bias_by_;
  Linear linear_;
};

}  // namespace podium
