#include "worker/nn/sequence_head.h"

#include "worker/nn/families/family.h"
#include "worker/ops/rows.h"
#include "worker/ops/tanh.h"

namespace podium {

SequenceHead::SequenceHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                           const std::string& classifier, std::int64_t classes, std::size_t term)
    : hidden_(spec.hidden),
      term_(term),
      pooler_(store, tensor, {{std::string(family_of(spec).names.pooler), hidden_}}, hidden_),
      classifier_(store, tensor, {{classifier, classes}}, hidden_) {
  PODIUM_CHECK(!family_of(spec).names.pooler.empty(), "a family whose sequences are told has a pooler");
}

ConstTensorView SequenceHead::run(const PassContext& pass, ConstTensorView encoded,
                                  const HeadGradient& gradient) {
  const auto [first_rows, labels] = pass.inputs.targets(term_);
  if (labels.empty()) return {};
  const auto activation = [&, count = std::ssize(labels)](Arena& arena, std::int64_t columns) {
    return arena.allocate(pass.compute, Shape{count, columns});
  };
  const TensorView logits = activation(pass.saved, classifier_.out());
  const ArenaScope scope(pass.workspace);
  const TensorView picked = activation(pass.workspace, hidden_), pooled = activation(pass.workspace, hidden_);
  ops::gather_rows(pass.context, encoded, first_rows, picked);
  pooler_.forward(pass.context, picked, pooled);
  ops::tanh_forward(pass.context, pooled);
  classifier_.forward(pass.context, pooled, logits);
  ops::CrossEntropySums* const sums = pass.sums + term_;
  if (!gradient.wanted()) {
    ops::cross_entropy(pass.context, logits, labels, sums);
    return logits;
  }
  ops::cross_entropy_backward(pass.context, logits, labels, gradient.scale, classifier_.bias_gradient(),
                              sums);
  const TensorView d = activation(pass.workspace, hidden_), dpicked = activation(pass.workspace, hidden_);
  classifier_.backward_weight_only(pass.context, pooled, logits);
  classifier_.backward_input(pass.context, logits, d);
  ops::tanh_backward(pass.context, pooled, d);
  pooler_.backward_weight(pass.context, picked, d);
  pooler_.backward_input(pass.context, d, dpicked);
  ops::scatter_add_rows(pass.context, dpicked, first_rows, gradient.dx);
  return {};
}

}  // namespace podium
