// The sections "model" and "data".
#include <stdexcept>

#include "common/model/codec.h"
#include "common/model/family.h"
#include "common/model/hash_text.h"
#include "common/model/spec_parts.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<ModelFamily, 3> kFamilyNames{
    {{ModelFamily::bert, "bert"}, {ModelFamily::gpt, "gpt"}, {ModelFamily::llama, "llama"}}};

void read_train(const json& train, DataSpec& data) {
  for (const json& entry : train.is_array() ? train : json::array({train})) {
    data.train.push_back(entry.is_object() ? entry.at("path") : entry);
    if (entry.is_object()) data.weights.push_back(entry.at("weight"));
  }
  if (!data.weights.empty() && data.weights.size() != data.train.size())
    throw std::invalid_argument("data.train has weights for some of its entries only");
}

}  // namespace

json init_json(const ModelSpec& model) {
  json out = model.init_job ? to_json(*model.init_job) : model.init.empty() ? json() : json(model.init);
  if (model.init_xxh3.empty()) return out;
  if (!model.init_job) out = {{"path", model.init}};
  out["xxh3"] = model.init_xxh3;
  return out;
}

void read_init(const json& in, ModelSpec& model) {
  const json init = in.value(in.contains(kInitFrom) ? kInitFrom : "init", json(""));
  model.init_xxh3 = in.value(kInitXxh3, "");
  if (init.is_string()) {
    model.init = init;
    return;
  }
  if (init.contains("path"))
    model.init = init.at("path");
  else
    model.init_job = job_checkpoint_from_json(init);
  model.init_xxh3 = init.value("xxh3", model.init_xxh3);
  if (!model.init_xxh3.empty() && !is_xxh3_text(model.init_xxh3))
    throw std::invalid_argument("model.init.xxh3 has 16 hexadecimal digits");
}

json model_json(const ModelSpec& model) {
  json out{{"family", to_string(model.family)},
           {"layers", model.layers},
           {"hidden", model.hidden},
           {"heads", model.heads},
           {"intermediate", model.intermediate},
           {"vocab", model.vocab},
           {"max_positions", model.max_positions},
           {"dropout", model.dropout},
           {"attention_dropout", model.attention_dropout},
           {"initializer_range", model.initializer_range}};
  if (traits_of(model.family).rotary) {
    out["key_value_heads"] = model.key_heads();
    out["rope_theta"] = model.rope_theta;
    if (model.tie_embeddings) out["tie_embeddings"] = true;
  }
  if (!model.preset.empty()) out["preset"] = model.preset;
  if (const json init = init_json(model); !init.is_null()) out["init"] = init;
  return out;
}

ModelSpec model_from(const json& in) {
  ModelSpec model;
  model.family = enum_value(kFamilyNames, in.at("family").get<std::string>(), "model.family");
  model.preset = in.value("preset", "");
  model.layers = in.at("layers");
  model.hidden = in.at("hidden");
  model.heads = in.at("heads");
  model.intermediate = in.at("intermediate");
  model.vocab = in.at("vocab");
  model.max_positions = in.at("max_positions");
  model.dropout = in.at("dropout");
  model.attention_dropout = in.at("attention_dropout");
  model.initializer_range = in.at("initializer_range");
  model.key_value_heads = in.value("key_value_heads", model.key_value_heads);
  model.rope_theta = in.value("rope_theta", model.rope_theta);
  model.tie_embeddings = in.value("tie_embeddings", model.tie_embeddings);
  read_init(in, model);
  return model;
}

json data_json(const DataSpec& data) {
  const TokenizerSpec& tokenizer = data.tokenizer;
  json tokens = tokenizer.wordpiece.empty()
                    ? json{{"bpe", {{"vocab", tokenizer.bpe_vocab}, {"merges", tokenizer.bpe_merges}}}}
                    : json{{"wordpiece", tokenizer.wordpiece}, {"lowercase", tokenizer.lowercase}};
  json train = data.train;
  for (std::size_t i = 0; i < data.weights.size(); ++i)
    train[i] = {{"path", data.train[i]}, {"weight", data.weights[i]}};
  return {{"train", std::move(train)}, {"tokenizer", std::move(tokens)}};
}

DataSpec data_from(const json& in) {
  DataSpec data;
  read_train(in.at("train"), data);
  const json& tokenizer = in.at("tokenizer");
  if (tokenizer.contains("bpe")) {
    data.tokenizer.bpe_vocab = tokenizer.at("bpe").at("vocab");
    data.tokenizer.bpe_merges = tokenizer.at("bpe").at("merges");
  } else {
    data.tokenizer.wordpiece = tokenizer.at("wordpiece");
    data.tokenizer.lowercase = tokenizer.at("lowercase");
  }
  return data;
}

std::string_view to_string(ModelFamily value) { return enum_name(kFamilyNames, value); }

}  // namespace podium
