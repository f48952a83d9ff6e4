// What layers keep from forward to backward, and what backward computes again instead (Chen et al., 2016;
// Korthikanti et al., 2022):
//
//   none        everything is kept
//   selective   attention's probabilities are computed again, by its own backward
//   full        a layer's input alone is kept: backward runs the layer's forward again
//
// A pass that only evaluates keeps nothing.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/pass_context.h"
#include "worker/nn/transformer_layer.h"

namespace podium {

class Recomputation {
 public:
  Recomputation(Recompute recompute, MemorySpace memory) : recompute_(recompute), passing_(memory.device) {}

  bool keeps_probabilities(bool training) const { return training && recompute_ == Recompute::none; }

  // TransformerLayer's; x must stay as it is until backward, which is given it again.
  void forward(TransformerLayer& layer, const PassContext& pass, ConstTensorView x, TensorView y,
               TransformerLayer::Saved& saved);
  void backward(TransformerLayer& layer, const PassContext& pass, ConstTensorView x, TensorView dy,
                const TransformerLayer::Saved& saved);

  // Of activations that live within one layer only.
  Arena& passing() { return passing_; }
  const Arena& passing() const { return passing_; }

 private:
  PassContext passing_context(const PassContext& pass, bool keep_probabilities);

  const Recompute recompute_;
  Arena passing_;
};

}  // namespace podium
