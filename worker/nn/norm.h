// The norm of a family, LayerNorm or RMSNorm, bound to its parameters.
#pragma once

#include <string>

#include "worker/nn/families/family.h"
#include "worker/nn/parameters.h"
#include "worker/ops/layer_norm.h"
#include "worker/ops/rms_norm.h"
#include "worker/tensor/arena.h"

namespace podium {

class Norm {
 public:
  // Declares `<name>.weight` and, of a LayerNorm, `<name>.bias`. `of_own_rows`: each tensor rank normalises
  // its own rows only.
  Norm(ParameterStore& store, const std::string& name, const ModelSpec& spec, bool of_own_rows);

  // What forward keeps of `rows` rows for backward.
  TensorView allocate_statistics(Arena& arena, std::int64_t rows) const;

  // The arguments are those of ops::layer_norm_forward and its like.
  void forward(Context& context, ConstTensorView x, TensorView y, TensorView statistics) const;
  void backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                TensorView dx, ConstTensorView dresidual = {});
  void add_forward(Context& context, TensorView branch, ConstTensorView residual, const ops::Dropout& dropout,
                   TensorView y, TensorView statistics) const;
  // `branch_bias`: the gradient of the bias that ends the branch; without an address there is none, as before
  // every RMSNorm.
  void add_backward(Context& context, ConstTensorView dy, ConstTensorView sum, ConstTensorView statistics,
                    const ops::Dropout& dropout, TensorView dsum, TensorView dbranch, TensorView branch_bias,
                    ConstTensorView dresidual);

 private:
  bool is_rms() const { return kind_ == NormKind::rms; }
  ops::LayerNormParameters layer_norm() const {
    return {store_.weight(gamma_), store_.weight(beta_), epsilon_};
  }
  ops::LayerNormGradients layer_norm_gradients(TensorView branch_bias = {}) {
    return {store_.gradient(gamma_), store_.gradient(beta_), branch_bias};
  }
  ops::RmsNormParameters rms_norm() const { return {store_.weight(gamma_), epsilon_}; }

  ParameterStore& store_;
  NormKind kind_;
  float epsilon_;
  ParameterId gamma_;
  ParameterId beta_;  // of a LayerNorm
};

}  // namespace podium
