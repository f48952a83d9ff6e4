// GPT-2 (Radford et al., 2019): its layers' shape, its names, and its head, which predicts the next token:
// decode(LayerNorm(x[scored])) with the word embeddings as decoder.
#include "common/model/flops.h"
#include "worker/nn/families/family.h"
#include "worker/nn/layer_norm.h"
#include "worker/nn/pretraining_head.h"
#include "worker/nn/token_decoder.h"
#include "worker/ops/rows.h"

namespace podium {
namespace {

constexpr char kFinalNorm[] = "transformer.ln_f";

class GptHead final : public Head {
 public:
  GptHead(ParameterStore& store, const ModelSpec& spec, ParameterId word)
      : hidden_(spec.hidden),
        norm_(store, kFinalNorm, hidden_, kGptFamily.norm_epsilon, false),
        decoder_(store, word, "") {}

  ConstTensorView run(const Step& step, ConstTensorView x, TensorView dx) override {
    for (const ScoredRows& block : step.inputs.blocks(kLanguageTerm))
      run_block(step, x, block, {step.inputs.loss_scale(kLanguageTerm), dx});
    return {};
  }

 private:
  void run_block(const Step& step, ConstTensorView x, const ScoredRows& block, const HeadGradient& gradient) {
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

  std::int64_t hidden_;
  LayerNorm norm_;
  TokenDecoder decoder_;
};

HeadPlan gpt_head() {
  return {{{"language", true}},
          [](ParameterStore& store, const TensorGroup&, const ModelSpec& spec, ParameterId word) {
            return std::make_unique<GptHead>(store, spec, word);
          },
          [](const ModelSpec& spec, const MicroBatch& batch) {
            return language_head_flops(spec, static_cast<double>(batch.targets[kLanguageTerm].labels.size()));
          }};
}

}  // namespace

constinit const Family kGptFamily{.family = ModelFamily::gpt,
                                  .names = {.word = "transformer.wte.weight",
                                            .position = "transformer.wpe.weight",
                                            .type = "",
                                            .embedding_norm = "",
                                            .layers = "transformer.h.",
                                            .first_norm = "ln_1",
                                            .query = "attn.query",
                                            .key = "attn.key",
                                            .value = "attn.value",
                                            .attention_output = "attn.c_proj",
                                            .middle_norm = "ln_2",
                                            .expand = "mlp.c_fc",
                                            .contract = "mlp.c_proj",
                                            .last_norm = ""},
                                  .norm_epsilon = 1e-5,
                                  .causal = true,
                                  .gelu = ops::GeluKind::tanh,
                                  .scaled_residuals = true,
                                  .pretraining_head = gpt_head};

}  // namespace podium
