#include "worker/nn/sequence_head.h"

#include <algorithm>

#include "worker/nn/dropout_sites.h"
#include "worker/nn/families/family.h"
#include "worker/ops/distillation.h"
#include "worker/ops/rows.h"
#include "worker/ops/squared_error.h"
#include "worker/ops/tanh.h"

namespace podium {
namespace {

Tensor placed_weights(const std::vector<float>& weights, MemorySpace memory) {
  if (weights.empty()) return {};
  Tensor placed(DType::f32, Shape{std::ssize(weights)}, memory.device);
  memory.upload<float>(placed.view().values<float>(), weights);
  return placed;
}

}  // namespace

SequenceHead::SequenceHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                           SequenceHeadOptions options)
    : options_(std::move(options)),
      hidden_(spec.hidden),
      pooler_(store, tensor, {{std::string(family_of(spec).names.pooler), hidden_}}, hidden_),
      classifier_(store, tensor, {{options_.classifier, std::max<std::int64_t>(options_.classes, 1)}},
                  hidden_),
      class_weights_(placed_weights(options_.class_weights, store.memory())) {
  PODIUM_CHECK(!family_of(spec).names.pooler.empty(), "a family whose sequences are told has a pooler");
}

ConstTensorView SequenceHead::run(const PassContext& pass, ConstTensorView encoded,
                                  const HeadGradient& gradient) {
  const ScoredRows targets = pass.inputs.targets(options_.term);
  if (targets.rows.empty()) return {};
  const auto activation = [&, count = std::ssize(targets.rows)](Arena& arena, std::int64_t columns) {
    return arena.allocate(pass.compute, Shape{count, columns});
  };
  const TensorView logits = activation(pass.saved, classifier_.out());
  const ArenaScope scope(pass.workspace);
  const ops::Dropout dropout = pass.sequence_dropout(options_.dropout, kSequenceHeadDropoutSite);
  const TensorView picked = activation(pass.workspace, hidden_), pooled = activation(pass.workspace, hidden_);
  const TensorView kept = dropout.active() ? activation(pass.workspace, hidden_) : pooled;
  ops::gather_rows(pass.context, encoded, targets.rows, picked);
  pooler_.forward(pass.context, picked, pooled);
  ops::tanh_forward(pass.context, pooled);
  if (dropout.active()) ops::dropout(pass.context, pooled, dropout, kept);
  classifier_.forward(pass.context, kept, logits);
  add_losses(pass, logits, targets, gradient);
  if (!gradient.wanted()) return logits;

  const TensorView d = activation(pass.workspace, hidden_), dpicked = activation(pass.workspace, hidden_);
  if (options_.teacher_term)
    classifier_.backward_weight(pass.context, kept, logits);
  else
    classifier_.backward_weight_only(pass.context, kept, logits);
  classifier_.backward_input(pass.context, logits, d);
  if (dropout.active()) ops::dropout(pass.context, d, dropout, d);
  ops::tanh_backward(pass.context, pooled, d);
  pooler_.backward_weight(pass.context, picked, d);
  pooler_.backward_input(pass.context, d, dpicked);
  ops::scatter_add_rows(pass.context, dpicked, targets.rows, gradient.dx);
  return {};
}

// Replaces the logits by their gradient where it is wanted.
void SequenceHead::add_losses(const PassContext& pass, TensorView logits, const ScoredRows& targets,
                              const HeadGradient& gradient) {
  if (!options_.teacher_term || !gradient.wanted())
    return add_loss(pass, logits, targets, gradient, classifier_.bias_gradient());
  const TensorView scores = pass.workspace.allocate(logits.dtype, logits.shape);
  pass.context.memory.copy(scores.address, logits.address, logits.bytes());
  add_loss(pass, logits, targets, gradient, {});  // the bias's gradient is that of both losses
  const std::size_t term = *options_.teacher_term;
  const Shape column{logits.size(), 1};
  ops::distillation(pass.context, {scores.address, scores.dtype, column}, 0,
                    {logits.shape[0], options_.classes}, pass.inputs.targets(term).values,
                    static_cast<float>(options_.temperature), pass.inputs.loss_scale(term),
                    {logits.address, logits.dtype, column}, pass.sums + term);
}

void SequenceHead::add_loss(const PassContext& pass, TensorView logits, const ScoredRows& targets,
                            const HeadGradient& gradient, TensorView dbias) {
  ops::CrossEntropySums* const sums = pass.sums + options_.term;
  const bool value = options_.classes == 0;
  const ConstTensorView weights = class_weights_.view();
  if (value && gradient.wanted())
    ops::squared_error_backward(pass.context, logits, targets.values, gradient.scale, dbias, sums);
  else if (value)
    ops::squared_error(pass.context, logits, targets.values, sums);
  else if (gradient.wanted())
    ops::cross_entropy_backward(pass.context, logits, targets.labels, gradient.scale, dbias, sums,
                                options_.classes, weights);
  else
    ops::cross_entropy(pass.context, logits, targets.labels, sums, options_.classes, weights);
}

}  // namespace podium
