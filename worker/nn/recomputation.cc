#include "worker/nn/recomputation.h"

namespace podium {

void Recomputation::forward(TransformerLayer& layer, std::size_t index, const PassContext& pass,
                            ConstTensorView x, TensorView y, TransformerLayer::Saved& saved) {
  if (pass.training && !runs_again(index)) return layer.forward(pass, x, y, saved);
  const ArenaScope scope(transient_);
  TransformerLayer::Saved unused;
  layer.forward(transient_context(pass, false), x, y, unused);
}

void Recomputation::backward(TransformerLayer& layer, std::size_t index, const PassContext& pass,
                             ConstTensorView x, TensorView dy, const TransformerLayer::Saved& saved) {
  if (!runs_again(index)) return layer.backward(pass, dy, saved);
  const ArenaScope scope(transient_);
  // Backward follows at once: it is given the probabilities of the one layer, or it would compute them a
  // third time.
  const PassContext again = transient_context(pass, true);
  TransformerLayer::Saved anew;
  layer.forward(again, x, again.save_own(x.shape[1]), anew);
  layer.backward(again, dy, anew);
}

// The same pass, whose activations live only as long as the scope that the caller has opened.
PassContext Recomputation::transient_context(const PassContext& pass, bool keep_probabilities) {
  return {.context = pass.context,
          .tensor = pass.tensor,
          .batch = pass.batch,
          .training = pass.training,
          .rows = pass.rows,
          .inputs = pass.inputs,
          .sums = pass.sums,
          .compute = pass.compute,
          .fp8 = pass.fp8,
          .ranges = pass.ranges,
          .keep_probabilities = keep_probabilities,
          .rotary_table = pass.rotary_table,
          .saved = transient_,
          .workspace = pass.workspace};
}

}  // namespace podium
