// GPT-2 (Radford et al., 2019): its layers' shape and its names. Its head predicts the next token with the
// word embeddings as decoder.
#include "worker/nn/language_head.h"

namespace podium {
namespace {

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
            .head_norm = "transformer.ln_f",
        },
    .norm = NormKind::layer,
    .norm_epsilon = 1e-5,
    .biases = true,
    .causal = true,
    .gelu = ops::GeluKind::tanh,
    .scaled_residuals = true,
    .pretraining_head = language_head,
    .head_tensors = language_head_tensors,
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
