#include "worker/nn/recomputation.h"

namespace podium {

void Recomputation::forward(TransformerLayer& layer, const Step& step, ConstTensorView x, TensorView y,
                            TransformerLayer::Saved& saved) {
  if (step.pass.training && recompute_ != Recompute::full) return layer.forward(step, x, y, saved);
  const ArenaScope scope(passing_);
  TransformerLayer::Saved unused;
  layer.forward(passing_step(step, false), x, y, unused);
}

void Recomputation::backward(TransformerLayer& layer, const Step& step, ConstTensorView x, TensorView dy,
                             const TransformerLayer::Saved& saved) {
  if (recompute_ != Recompute::full) return layer.backward(step, dy, saved);
  const ArenaScope scope(passing_);
  // Backward follows at once: it is given the probabilities of the one layer, or it would compute them a
  // third time.
  const Step again = passing_step(step, true);
  TransformerLayer::Saved anew;
  layer.forward(again, x, again.save_own(x.shape[1]), anew);
  layer.backward(again, dy, anew);
}

// The same step, whose activations live only as long as the scope that the caller has opened.
Step Recomputation::passing_step(const Step& step, bool keep_probabilities) {
  return {.context = step.context,
          .tensor = step.tensor,
          .pass = step.pass,
          .rows = step.rows,
          .inputs = step.inputs,
          .sums = step.sums,
          .compute = step.compute,
          .fp8 = step.fp8,
          .keep_probabilities = keep_probabilities,
          .saved = passing_,
          .workspace = step.workspace};
}

}  // namespace podium
