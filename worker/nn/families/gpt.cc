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

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    for (const ScoredRows& block : pass.inputs.blocks(kLanguageTerm))
      run_block(pass, x, block, {pass.inputs.loss_scale(kLanguageTerm), dx});
    return {};
  }

 private:
  void run_block(const PassContext& pass, ConstTensorView x, const ScoredRows& block,
                 const HeadGradient& gradient) {
    const ArenaScope scope(pass.workspace);
    const auto rows = static_cast<std::int64_t>(block.labels.size());
    const auto activation = [&] { return pass.workspace.allocate(pass.compute, Shape{rows, hidden_}); };
    const TensorView picked = activation(), normal = activation();
    const TensorView d = gradient.wanted() ? activation() : TensorView{};
    const TensorView statistics = pass.workspace.allocate(DType::f32, Shape{rows, 2});
    ops::gather_rows(pass.context, x, block.rows, picked);
    ops::layer_norm_forward(pass.context, picked, norm_.parameters(), normal, statistics);
    decoder_.run(pass, normal, block.labels, {gradient.scale, d}, pass.sums + kLanguageTerm);
    if (!gradient.wanted()) return;
    ops::layer_norm_backward(pass.context, d, picked, statistics, norm_.parameters(), d, norm_.gradients());
    ops::scatter_add_rows(pass.context, d, block.rows, gradient.dx);
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

std::vector<HeadTensor> gpt_head_tensors(const ModelSpec& spec) {
  const std::string norm = kFinalNorm;
  return {{norm + ".weight", {spec.hidden}}, {norm + ".bias", {spec.hidden}}};
}

constexpr std::string_view kGptBare[] = {"wte.", "wpe.", "h.", "ln_f."};
constexpr std::string_view kGptOtherBeginnings[] = {"score.", "multiple_choice_head."};
constexpr std::string_view kGptOtherEndings[] = {".attn.bias", ".attn.masked_bias"};

}  // namespace

constinit const Family kGptFamily{
    .family = ModelFamily::gpt,
    .names =
        {
            .word = "transformer.wte.weight",
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
            .last_norm = "",
            .pooler = "",
        },
    .norm_epsilon = 1e-5,
    .causal = true,
    .gelu = ops::GeluKind::tanh,
    .scaled_residuals = true,
    .pretraining_head = gpt_head,
    .head_tensors = gpt_head_tensors,
    .hugging_face =
        {
            .model_type = "gpt2",
            .architecture = "GPT2LMHeadModel",
            .layers = "n_layer",
            .hidden = "n_embd",
            .heads = "n_head",
            .intermediate = "n_inner",
            .vocab = "vocab_size",
            .max_positions = "n_positions",
            .dropout = "resid_pdrop",
            .attention_dropout = "attn_pdrop",
            .embedding_dropout = "embd_pdrop",
            .norm_epsilon = "layer_norm_epsilon",
            .intermediate_may_lack = true,
            .required = R"({"activation_function": "gelu_new", "tie_word_embeddings": true,
                                     "scale_attn_weights": true, "scale_attn_by_inverse_layer_idx": false,
                                     "add_cross_attention": false})",
            .written = R"({"activation_function": "gelu_new"})",
            .end_of_text = 50256,
            .prefix = "transformer.",
            .bare = kGptBare,
            .other_beginnings = kGptOtherBeginnings,
            .other_endings = kGptOtherEndings,
            .tied = "lm_head.weight",
            .transposed = true,
            .query_key_value = "attn.c_attn",
        },
};

}  // namespace podium
