// The two kinds of dense layer that a tensor-parallel group shares (Shoeybi et al., 2019). The first spreads
// its outputs over the ranks. The second takes inputs that are spread so, and sums over the ranks.
//
// Where the pass asks for FP8 they multiply in it: each rank converts the x, W and dy that it multiplies,
// with scales of its own. dy is converted once for both of its products. Where it has ranges the x that is
// multiplied is rounded by them, and so is W (linear.h).
#pragma once

#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"

namespace podium {

// Which backward adds the column sums of dy to the gradient of the bias, if there is one: the layer's own
// (here), or that of the op which reads the layer's output and writes dy (behind). The latter saves a pass
// over dy.
enum class BiasGradient { here, behind };

// The gradient of a layer's output, in the forms that its products read.
struct OutputGradient {
  ConstTensorView dy;
  ops::Float8Matrix in_float8;  // only if the pass multiplies in FP8
};

// x [own rows, in] -> y [all rows, this rank's outputs]. backward() leaves the gradient of the bias out: that
// is up to the op behind, to which the caller gives bias_gradient() (ops::attention_backward for queries,
// keys and values; ProductOptions::column_sums where a GELU is behind).
class ColumnParallelLinear {
 public:
  // `product`: as layer_products.h numbers it.
  ColumnParallelLinear(ParameterStore& store, const TensorGroup& tensor, const std::vector<LinearPart>& parts,
                       std::int64_t in, bool bias, int product);

  void forward(const PassContext& pass, ConstTensorView x, TensorView y);
  // Forward with a GELU behind it. `saved` has y's shape.
  void gelu_forward(const PassContext& pass, ConstTensorView x, ops::GeluKind kind, TensorView saved,
                    TensorView y);
  // Replaces dx or adds to it.
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                bool accumulate);

  TensorView bias_gradient() { return linear_.bias_gradient(); }

 private:
  void backward_own_rows(const PassContext& pass, const OutputGradient& dy, TensorView dx, bool accumulate);
  void backward_rounded(const PassContext& pass, ConstTensorView x, const OutputGradient& dy, TensorView dx,
                        bool accumulate);

  int product_;
  Linear linear_;
};

// x [all rows, this rank's inputs] -> y [own rows, out]. With BiasGradient::behind a norm is behind it
// and adds to the gradient of the bias (LayerNormGradients::branch_bias).
class RowParallelLinear {
 public:
  RowParallelLinear(ParameterStore& store, const TensorGroup& tensor, const std::string& name,
                    std::int64_t out, std::int64_t in, double deviation, bool bias,
                    BiasGradient bias_gradient, int product);

  void forward(const PassContext& pass, ConstTensorView x, TensorView y);
  void backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                const ops::ProductOptions& options = {});

  TensorView bias_gradient() { return linear_.bias_gradient(); }

 private:
  void backward_rounded(const PassContext& pass, ConstTensorView x, const OutputGradient& dy, TensorView dx,
                        const ops::ProductOptions& options);

  BiasGradient bias_by_;
  int product_;
  Linear linear_;
};

}  // namespace podium
