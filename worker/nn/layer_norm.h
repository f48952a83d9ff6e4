// Layer normalisation bound to its parameters.
#pragma once

#include <string>

#include "worker/nn/parameters.h"
#include "worker/ops/layer_norm.h"

namespace podium {

class LayerNorm {
 public:
  LayerNorm(ParameterStore& store, const std::string& name, std::int64_t columns)
      : store_(store),
        gamma_(store.add(name + ".weight", Shape{columns}, Initializer::ones, false)),
        beta_(store.add(name + ".bias", Shape{columns}, Initializer::zeros, false)) {}

  ops::LayerNormParameters parameters() const { return {store_.weight(gamma_), store_.weight(beta_)}; }
  ops::LayerNormGradients gradients() { return {store_.gradient(gamma_), store_.gradient(beta_)}; }

 private:
  ParameterStore& store_;
  ParameterId gamma_;
  ParameterId beta_;
};

}  // namespace podium
