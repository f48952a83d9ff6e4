// What layers keep from forward to backward, and what backward computes again instead (Chen et al., 2016;
// Korthikanti et al., 2022):
//
//   none        a layer keeps everything
//   selective   attention's own backward computes the probabilities again
//   full        a layer keeps its input alone, and backward runs its forward again: of each chunk the first
//               `layers` do so, or all of them where that is 0. The others keep everything. Megatron-LM calls
//               this the recompute method "block".
//
// A pass that only evaluates keeps nothing.
#pragma once

#include "common/model/spec.h"
#include "worker/nn/pass_context.h"
#include "worker/nn/transformer_layer.h"

namespace podium {

class Recomputation {
 public:
  Recomputation(Recompute recompute, int layers, MemorySpace memory)
      : recompute_(recompute), layers_(static_cast<std::size_t>(layers)), transient_(memory.device) {}

  // Whether layers that backward does not run again keep attention's probabilities.
  bool keeps_probabilities(bool training) const { return training && recompute_ != Recompute::selective; }

  // TransformerLayer's forward and backward, for the layer with this index in its chunk. x must not change
  // until backward, which is given the same x.
  void forward(TransformerLayer& layer, std::size_t index, const PassContext& pass, ConstTensorView x,
               TensorView y, TransformerLayer::Saved& saved);
  void backward(TransformerLayer& layer, std::size_t index, const PassContext& pass, ConstTensorView x,
                TensorView dy, const TransformerLayer::Saved& saved);

  // Holds activations that live only while one layer computes.
  Arena& transient() { return transient_; }
  const Arena& transient() const { return transient_; }

 private:
  bool runs_again(std::size_t index) const {
    return recompute_ == Recompute::full && (layers_ == 0 || index < layers_);
  }
  PassContext transient_context(const PassContext& pass, bool keep_probabilities);

  const Recompute recompute_;
  const std::size_t layers_;
  Arena transient_;
};

}  // namespace podium
