// config.json of BERT and GPT-2. What the models here compute in one way only, such as the activation, must
// be that way in the file, too.
#include "worker/formats/hugging_face_config.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "worker/data/bad_data.h"
#include "worker/formats/hugging_face.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr double kBertEpsilon = 1e-12, kGptEpsilon = 1e-5;  // of the layer norms
constexpr int kLargest = 1 << 30;
constexpr int kMostLayers = 1000;  // as a spec may ask for

class Config {
 public:
  explicit Config(const std::filesystem::path& path) : path_(path.string()) {
    try {
      json_ = json::parse(read_file(path));
    } catch (const std::exception& error) {
      throw BadData("cannot read the model " + path_ + ": " + error.what());
    }
    if (!json_.is_object()) throw BadData(path_ + ": no JSON object");
  }

  std::string text(const char* key) const {
    const json value = json_.value(key, json());
    return value.is_string() ? value.get<std::string>() : "";
  }

  int count(const char* key, int most = kLargest) const {
    const json value = json_.value(key, json());
    if (!value.is_number_integer() || value < 1 || value > most)
      throw BadData(fmt::format("{}: {} must be a number from 1 to {}", path_, key, most));
    return value;
  }

  double number(const char* key, double standard) const {
    const json value = json_.value(key, json(standard));
    if (!value.is_number()) throw BadData(path_ + ": " + key + " must be a number");
    return value;
  }

  bool is_set(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }

  // Where the key is there, it has to have this value.
  void expect(const char* key, const json& value) const {
    if (is_set(key) && json_[key] != value) refuse(key, value);
  }
  void expect_near(const char* key, double value) const {
    if (std::abs(number(key, value) - value) > 1e-6 * value) refuse(key, value);
  }

 private:
  [[noreturn]] void refuse(const char* key, const json& value) const {
    throw BadData(path_ + ": " + key + " is " + json_[key].dump() + "; podium-worker computes " +
                  value.dump() + " only");
  }

  std::string path_;
  json json_;
};

ModelSpec read_bert(const Config& config) {
  config.expect("hidden_act", "gelu");
  config.expect("type_vocab_size", 2);
  config.expect("position_embedding_type", "absolute");
  config.expect("tie_word_embeddings", true);
  config.expect("is_decoder", false);
  config.expect_near("layer_norm_eps", kBertEpsilon);
  ModelSpec spec;
  spec.family = ModelFamily::bert;
  spec.layers = config.count("num_hidden_layers", kMostLayers);
  spec.hidden = config.count("hidden_size");
  spec.heads = config.count("num_attention_heads");
  spec.intermediate = config.count("intermediate_size");
  spec.vocab = config.count("vocab_size");
  spec.max_positions = config.count("max_position_embeddings");
  spec.dropout = config.number("hidden_dropout_prob", spec.dropout);
  spec.attention_dropout = config.number("attention_probs_dropout_prob", spec.attention_dropout);
  spec.initializer_range = config.number("initializer_range", spec.initializer_range);
  return spec;
}

ModelSpec read_gpt(const Config& config) {
  config.expect("activation_function", "gelu_new");
  config.expect("tie_word_embeddings", true);
  config.expect("scale_attn_weights", true);
  config.expect("scale_attn_by_inverse_layer_idx", false);
  config.expect("add_cross_attention", false);
  config.expect_near("layer_norm_epsilon", kGptEpsilon);
  ModelSpec spec;
  spec.family = ModelFamily::gpt;
  spec.layers = config.count("n_layer", kMostLayers);
  spec.hidden = config.count("n_embd");
  spec.heads = config.count("n_head");
  spec.intermediate = config.is_set("n_inner") ? config.count("n_inner") : 4 * spec.hidden;
  spec.vocab = config.count("vocab_size");
  spec.max_positions = config.count("n_positions");
  spec.dropout = config.number("resid_pdrop", spec.dropout);
  config.expect_near("embd_pdrop", spec.dropout);  // ours is one for both
  spec.attention_dropout = config.number("attn_pdrop", spec.attention_dropout);
  spec.initializer_range = config.number("initializer_range", spec.initializer_range);
  return spec;
}

json bert_config(const ModelSpec& spec) {
  return {{"model_type", "bert"},
          {"architectures", {"BertForPreTraining"}},
          {"num_hidden_layers", spec.layers},
          {"hidden_size", spec.hidden},
          {"num_attention_heads", spec.heads},
          {"intermediate_size", spec.intermediate},
          {"vocab_size", spec.vocab},
          {"max_position_embeddings", spec.max_positions},
          {"type_vocab_size", 2},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", spec.dropout},
          {"attention_probs_dropout_prob", spec.attention_dropout},
          {"initializer_range", spec.initializer_range},
          {"layer_norm_eps", kBertEpsilon},
          {"pad_token_id", 0}};
}

json gpt_config(const ModelSpec& spec) {
  constexpr int kEndOfText = 50256;
  json config{{"model_type", "gpt2"},
              {"architectures", {"GPT2LMHeadModel"}},
              {"n_layer", spec.layers},
              {"n_embd", spec.hidden},
              {"n_head", spec.heads},
              {"n_inner", spec.intermediate},
              {"vocab_size", spec.vocab},
              {"n_positions", spec.max_positions},
              {"activation_function", "gelu_new"},
              {"resid_pdrop", spec.dropout},
              {"embd_pdrop", spec.dropout},
              {"attn_pdrop", spec.attention_dropout},
              {"initializer_range", spec.initializer_range},
              {"layer_norm_epsilon", kGptEpsilon}};
  if (spec.vocab > kEndOfText) config["bos_token_id"] = config["eos_token_id"] = kEndOfText;
  return config;
}

}  // namespace

ModelSpec read_hugging_face_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  const Config config(path);
  const std::string type = config.text("model_type");
  if (type == "bert") return read_bert(config);
  if (type == "gpt2") return read_gpt(config);
  throw BadData(path.string() + ": model_type is \"" + type + "\"; podium-worker knows bert and gpt2");
}

std::string hugging_face_config(const ModelSpec& spec) {
  return (spec.family == ModelFamily::gpt ? gpt_config(spec) : bert_config(spec)).dump(2) + "\n";
}

}  // namespace podium
