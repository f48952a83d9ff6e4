#include "worker/nn/gpt_head.h"

#include "worker/nn/pretraining_head.h"
#include "worker/ops/rows.h"

namespace podium {

GptHead::GptHead(ParameterStore& store, const TensorGroup&, const ModelSpec& spec, ParameterId word)
    : hidden_(spec.hidden),
      norm_(store, "transformer.ln_f", hidden_, ops::kGptEpsilon, false),
      decoder_(store, word, "") {}

ConstTensorView GptHead::run(const Step& step, ConstTensorView x, TensorView dx) {
  for (const ScoredRows& block : step.inputs.blocks(kLanguageTerm))
    run_block(step, x, block, {step.inputs.loss_scale(kLanguageTerm), dx});
  return {};
}

void GptHead::run_block(const Step& step, ConstTensorView x, const ScoredRows& block,
                        const HeadGradient& gradient) {
  const ArenaScope scope(step.workspace);
  const auto rows = static_cast<std::int64_t>(block.labels.size());
  const auto activation = [&] { return step.workspace.allocate(step.compute, Shape{rows, hidden_}); };
  const TensorView picked = activation(), normal = activation();
  const TensorView d = gradient.wanted() ? activation() : TensorView{};
  const TensorView statistics = step.workspace.allocate(DType::f32, Shape{rows, 2});
  ops::gather_rows(step.context, x, block.rows, picked);
  ops::layer_norm_forward(step.context, picked, norm_.parameters(), normal, statistics);
  decoder_.run(step, normal, block.labels, {gradient.scale, d}, step.sums + kLanguageTerm);
  if (!gradient.wanted()) return;
  ops::layer_norm_backward(step.context, d, picked, statistics, norm_.parameters(), d, norm_.gradients());
  ops::scatter_add_rows(step.context, d, block.rows, gradient.dx);
}

}  // namespace podium
