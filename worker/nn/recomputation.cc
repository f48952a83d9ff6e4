#include "worker/nn/recomputation.h"

namespace podium {

void Recomputation::forward(TransformerLayer& layer, const PassContext& pass, ConstTensorView x, TensorView y,
                            TransformerLayer::Saved& saved) {
  if (pass.training && recompute_ != Recompute::full) return layer.forward(pass, x, y, saved);
  const ArenaScope scope(passing_);
  TransformerLayer::Saved unused;
  layer.forward(passing_context(pass, false), x, y, unused);
}

void Recomputation::backward(TransformerLayer& layer, const PassContext& pass, ConstTensorView x,
                             TensorView dy, const TransformerLayer::Saved& saved) {
  if (recompute_ != Recompute::full) return layer.backward(pass, dy, saved);
  const ArenaScope scope(passing_);
  // Backward follows at once: it is given the probabilities of the one layer, or it would compute them a
  // third time.
  const PassContext again = passing_context(pass, true);
  TransformerLayer::Saved anew;
  layer.forward(again, x, again.save_own(x.shape[1]), anew);
  layer.backward(again, dy, anew);
}

// The same pass, whose activations live only as long as the scope that the caller has opened.
PassContext Recomputation::passing_context(const PassContext& pass, bool keep_probabilities) {
  return {.context = pass.context,
          .tensor = pass.tensor,
          .batch = pass.batch,
          .training = pass.training,
          .rows = pass.rows,
          .inputs = pass.inputs,
          .sums = pass.sums,
          .compute = pass.compute,
          .fp8 = pass.fp8,
          .keep_probabilities = keep_probabilities,
          .saved = passing_,
          .workspace = pass.workspace};
}

}  // namespace podium
