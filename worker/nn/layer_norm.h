// Layer normalisation bound to its parameters.
#pragma once

#include <string>

#include "worker/nn/parameters.h"
#include "worker/nn/tensor_group.h"
#include "worker/ops/layer_norm.h"

namespace podium {

class LayerNorm {
 public:
  // `of_own_rows`: each tensor rank normalises its own rows only.
  LayerNorm(ParameterStore& store, const std::string& name, std::int64_t columns, double epsilon,
            bool of_own_rows)
      : store_(store),
        epsilon_(static_cast<float>(epsilon)),
        gamma_(declare(name + ".weight", columns, Initializer::ones, of_own_rows)),
        beta_(declare(name + ".bias", columns, Initializer::zeros, of_own_rows)) {}

  ops::LayerNormParameters parameters() const {
    return {store_.weight(gamma_), store_.weight(beta_), epsilon_};
  }
  // `branch_bias` as in ops::LayerNormGradients.
  ops::LayerNormGradients gradients(TensorView branch_bias = {}) {
    return {store_.gradient(gamma_), store_.gradient(beta_), branch_bias};
  }

 private:
  ParameterId declare(std::string name, std::int64_t columns, Initializer initializer, bool partial) {
    Parameter parameter{.name = std::move(name),
                        .shape = Shape{columns},
                        .decay = false,
                        .initializer = initializer,
                        .partial_over_tensor = partial};
    return store_.add(std::move(parameter));
  }

  ParameterStore& store_;
  float epsilon_;
  ParameterId gamma_;
  ParameterId beta_;
};

}  // namespace podium
