#include "worker/nn/sequence_head.h"

#include "worker/nn/families/bert.h"
#include "worker/ops/rows.h"
#include "worker/ops/tanh.h"

namespace podium {

SequenceHead::SequenceHead(ParameterStore& store, const TensorGroup& tensor, std::int64_t hidden,
                           const std::string& classifier, std::int64_t classes, std::size_t term)
    : hidden_(hidden),
      term_(term),
      pooler_(store, tensor, {kBertPooler}, hidden, hidden),
      classifier_(store, tensor, {classifier}, classes, hidden) {}

ConstTensorView SequenceHead::run(const Step& step, ConstTensorView encoded, const HeadGradient& gradient) {
  const auto [first_rows, labels] = step.inputs.targets(term_);
  if (labels.empty()) return {};
  const auto activation = [&, count = std::ssize(labels)](Arena& arena, std::int64_t columns) {
    return arena.allocate(step.compute, Shape{count, columns});
  };
  const TensorView logits = activation(step.saved, classifier_.out());
  const ArenaScope scope(step.workspace);
  const TensorView picked = activation(step.workspace, hidden_), pooled = activation(step.workspace, hidden_);
  ops::gather_rows(step.context, encoded, first_rows, picked);
  pooler_.forward(step.context, picked, pooled);
  ops::tanh_forward(step.context, pooled);
  classifier_.forward(step.context, pooled, logits);
  ops::CrossEntropySums* const sums = step.sums + term_;
  if (!gradient.wanted()) {
    ops::cross_entropy(step.context, logits, labels, sums);
    return logits;
  }
  ops::cross_entropy_backward(step.context, logits, labels, gradient.scale, classifier_.bias_gradient(),
                              sums);
  const TensorView d = activation(step.workspace, hidden_), dpicked = activation(step.workspace, hidden_);
  classifier_.backward_weight_only(step.context, pooled, logits);
  classifier_.backward_input(step.context, logits, d);
  ops::tanh_backward(step.context, pooled, d);
  pooler_.backward_weight(step.context, picked, d);
  pooler_.backward_input(step.context, d, dpicked);
  ops::scatter_add_rows(step.context, dpicked, first_rows, gradient.dx);
  return {};
}

}  // namespace podium
