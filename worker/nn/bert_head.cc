#include "worker/nn/bert_head.h"

#include "worker/ops/gelu.h"
#include "worker/ops/rows.h"

namespace podium {

MaskedLanguageHead::MaskedLanguageHead(ParameterStore& store, const TensorGroup& tensor,
                                       const ModelSpec& spec, ParameterId word)
    : hidden_(spec.hidden),
      transform_(store, tensor, {"cls.predictions.transform.dense"}, hidden_, hidden_),
      norm_(store, "cls.predictions.transform.LayerNorm", hidden_, ops::kBertEpsilon, false),
      decoder_(store, word, "cls.predictions.bias") {}

void MaskedLanguageHead::run(const Step& step, ConstTensorView encoded, const HeadGradient& gradient) {
  for (const ScoredRows& block : step.inputs.blocks(kLanguageTerm)) run_block(step, encoded, block, gradient);
}

void MaskedLanguageHead::run_block(const Step& step, ConstTensorView encoded, const ScoredRows& block,
                                   const HeadGradient& gradient) {
  const ArenaScope scope(step.workspace);
  const auto rows = static_cast<std::int64_t>(block.labels.size());
  const auto activation = [&] { return step.workspace.allocate(step.compute, Shape{rows, hidden_}); };
  const TensorView picked = activation(), gelu_saved = activation(), gelu_y = activation();
  const TensorView normal = activation(), d = gradient.wanted() ? activation() : TensorView{};
  const TensorView statistics = step.workspace.allocate(DType::f32, Shape{rows, 2});
  ops::gather_rows(step.context, encoded, block.rows, picked);
  transform_.forward(step.context, picked, gelu_saved);
  ops::gelu_forward(step.context, gelu_saved, gelu_y);
  ops::layer_norm_forward(step.context, gelu_y, norm_.parameters(), normal, statistics);
  decoder_.run(step, normal, block.labels, {gradient.scale, d}, step.sums + kLanguageTerm);
  if (!gradient.wanted()) return;

  ops::layer_norm_backward(step.context, d, gelu_y, statistics, norm_.parameters(), d, norm_.gradients());
  ops::gelu_backward(step.context, {gelu_saved}, d);
  transform_.backward_weight(step.context, picked, d);
  const TensorView dpicked = normal;  // which is not needed any more
  transform_.backward_input(step.context, d, dpicked);
  ops::scatter_add_rows(step.context, dpicked, block.rows, gradient.dx);
}

ConstTensorView BertHead::run(const Step& step, ConstTensorView encoded, TensorView dencoded) {
  masked_.run(step, encoded, {step.inputs.loss_scale(kLanguageTerm), dencoded});
  next_sentence_.run(step, encoded, {step.inputs.loss_scale(kNextSentenceTerm), dencoded});
  return {};
}

}  // namespace podium
