// Llama (Touvron et al., 2023; Grattafiori et al., 2024): its layers' shape and its names. RMSNorm in front
// of each branch, positions that turn queries and keys, keys and values that groups of heads may share,
// SwiGLU, no biases, and a head that predicts the next token with a weight of its own, or tied.
#include "worker/nn/language_head.h"

namespace podium {
namespace {

constexpr std::string_view kLlamaBare[] = {"embed_tokens.", "layers.", "norm."};
constexpr std::string_view kLlamaOtherEndings[] = {".rotary_emb.inv_freq"};

}  // namespace

constinit const Family kLlamaFamily{
    .family = ModelFamily::llama,
    .names =
        {
            .word = "model.embed_tokens.weight",
            .position = "",
            .type = "",
            .embedding_norm = "",
            .layers = "model.layers.",
            .first_norm = "input_layernorm",
            .query = "self_attn.q_proj",
            .key = "self_attn.k_proj",
            .value = "self_attn.v_proj",
            .attention_output = "self_attn.o_proj",
            .middle_norm = "post_attention_layernorm",
            .gate = "mlp.gate_proj",
            .expand = "mlp.up_proj",
            .contract = "mlp.down_proj",
            .last_norm = "",
            .pooler = "",
            .head_norm = "model.norm",
            .decoder = "lm_head",
        },
    .norm = NormKind::rms,
    .norm_epsilon = 1e-5,
    .biases = false,
    .causal = true,
    .scaled_residuals = false,
    .pretraining_head = language_head,
    .head_tensors = language_head_tensors,
    .hugging_face =
        {
            .model_type = "llama",
            .architecture = "LlamaForCausalLM",
            .layers = "num_hidden_layers",
            .hidden = "hidden_size",
            .heads = "num_attention_heads",
            .head_size = "head_dim",
            .key_value_heads = "num_key_value_heads",
            .intermediate = "intermediate_size",
            .vocab = "vocab_size",
            .max_positions = "max_position_embeddings",
            .rope_theta = "rope_theta",
            .tie_embeddings = "tie_word_embeddings",
            .attention_dropout = "attention_dropout",
            .norm_epsilon = "rms_norm_eps",
            .required =
                R"({"hidden_act": "silu", "attention_bias": false, "mlp_bias": false,
                                     "rope_scaling": null, "pretraining_tp": 1})",
            .written = R"({"hidden_act": "silu", "attention_bias": false, "mlp_bias": false})",
            .prefix = "model.",
            .bare = kLlamaBare,
            .other_endings = kLlamaOtherEndings,
            .tied = "lm_head.weight",
        },
};

}  // namespace podium
