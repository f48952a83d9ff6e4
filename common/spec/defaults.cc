#include "common/spec/defaults.h"

#include <array>
#include <string>

#include "common/model/family.h"
#include "common/spec/facts.h"
#include "common/spec/mlperf.h"
#include "common/spec/schema.h"
#include "common/spec/sections.h"

namespace podium {
namespace {

using nlohmann::json;

// BERT: Turc et al. 2019 and Devlin et al. 2018. GPT-2: Radford et al. 2019; from 345m on Shoeybi et al.
// 2019, who padded GPT-2's vocabulary of 50,257 to 51,200 for eight-way tensor parallelism. Llama: Touvron et
// al. 2023 and Grattafiori et al. 2024.
constexpr std::array<ModelPreset, 15> kPresets{
    {{"bert-tiny", "bert", 2, 128, 2, 0},
     {"bert-mini", "bert", 4, 256, 4, 0},
     {"bert-small", "bert", 4, 512, 8, 0},
     {"bert-medium", "bert", 8, 512, 8, 0},
     {"bert-base", "bert", 12, 768, 12, 0},
     {"bert-large", "bert", 24, 1024, 16, 0},
     {"gpt2-124m", "gpt", 12, 768, 12, 0},
     {"gpt2-345m", "gpt", 24, 1024, 16, 51200},
     {"gpt2-1.2b", "gpt", 40, 1536, 16, 51200},
     {"gpt2-2.5b", "gpt", 54, 1920, 20, 51200},
     {"gpt2-4.2b", "gpt", 64, 2304, 24, 51200},
     {"gpt2-8.3b", "gpt", 72, 3072, 32, 51200},
     {"llama2-7b", "llama", 32, 4096, 32, 32000},
     {"llama2-70b", "llama", 80, 8192, 64, 32000, 28672, 8},
     {"llama3-8b", "llama", 32, 4096, 32, 128256, 14336, 8, 8192, 5e5}}};

constexpr std::int64_t kAllSequences = 1'000'000'000;  // the most that the schema allows

void drop_required(const json& schema, json& defaults) {
  const json& here = resolved(schema);
  for (const json& key : here.value("required", json::array()))
    if (const auto value = defaults.find(key.get<std::string>());
        value != defaults.end() && !value->is_object())
      defaults.erase(value);
  for (auto& [name, value] : defaults.items())
    if (value.is_object()) drop_required(here.at("properties").at(name), value);
}

JobSpec kind_of(const json& document) {
  JobSpec spec;
  if (is_service(document)) {
    spec.serve.emplace();
    spec.resources.walltime = kLongestWalltime;
  } else if (document.contains("command")) {
    spec.command = {"program"};
  }
  return spec;
}

// The defaults as JSON of a JobSpec of the document's kind. Keys that must be written are left out: they have
// no default.
json struct_defaults(const json& document) {
  const JobSpec spec = kind_of(document);
  json defaults = to_json(spec);
  for (const char* key : {"command", "data"}) defaults.erase(key);
  if (spec.serve) defaults["model"].erase("init");
  if (spec.trains())
    for (const char* key : {"family", "layers", "hidden", "heads", "intermediate", "max_positions", "dropout",
                            "attention_dropout"})
      defaults["model"].erase(key);
  if (spec.trains()) defaults["training"].erase("task");
  drop_required(experiment_schema(), defaults);
  return defaults;
}

// Adds to `value` the keys of `defaults` that it lacks.
void fill(json& value, const json& defaults) {
  for (const auto& [name, standard] : defaults.items()) {
    if (!value.contains(name)) {
      value[name] = standard;
    } else if (value[name].is_object() && standard.is_object()) {
      fill(value[name], standard);
    }
  }
}

void set_default(json& object, const char* key, json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

// The model's family; the default of a spec where it names none that exists.
const FamilyTraits& family_of(const json& model) {
  const json name = model.value("family", json());
  const FamilyTraits* known = name.is_string() ? find_family(name.get<std::string>()) : nullptr;
  return known != nullptr ? *known : traits_of(ModelSpec{}.family);
}

void set_rest_of_preset(json& model, const ModelPreset& preset) {
  if (preset.intermediate > 0) set_default(model, "intermediate", preset.intermediate);
  if (preset.key_value_heads > 0) set_default(model, "key_value_heads", preset.key_value_heads);
  if (preset.max_positions > 0) set_default(model, "max_positions", preset.max_positions);
  if (preset.rope_theta > 0) set_default(model, "rope_theta", preset.rope_theta);
}

// 4 x hidden, or as many parameters in three weights as those two would have, in multiples of 256, as Llama's
// own code rounds.
std::int64_t usual_intermediate(std::int64_t hidden, bool gated) {
  constexpr std::int64_t kMultiple = 256;
  return gated ? (8 * hidden / 3 + kMultiple - 1) / kMultiple * kMultiple : 4 * hidden;
}

void fill_model(json& model) {
  const json name = model.value("preset", json());
  if (const ModelPreset* preset = name.is_string() ? find_preset(name.get<std::string>()) : nullptr) {
    set_default(model, "family", preset->family);
    set_default(model, "layers", preset->layers);
    set_default(model, "hidden", preset->hidden);
    set_default(model, "heads", preset->heads);
    set_default(model, "vocab", preset->vocab);
    const bool as_published = model["layers"] == preset->layers && model["hidden"] == preset->hidden &&
                              model["heads"] == preset->heads && model["family"] == preset->family;
    if (as_published)
      set_rest_of_preset(model, *preset);
    else if (model["family"] == preset->family)
      model.erase("preset");
  }
  const FamilyTraits& family = family_of(model);
  const json hidden = model.value("hidden", json());
  if (hidden.is_number_integer())
    set_default(model, "intermediate", usual_intermediate(hidden.get<std::int64_t>(), family.gated));
  set_default(model, "max_positions", family.max_positions);
  set_default(model, "dropout", family.dropout);
  set_default(model, "attention_dropout", family.dropout);
  if (!family.rotary) return;
  if (model.contains("heads")) set_default(model, "key_value_heads", model["heads"]);
  set_default(model, "rope_theta", ModelSpec{}.rope_theta);
}

// A phase inherits the keys that it does not write from the phase before. Only the steps are always its own.
void fill_phases(json& training) {
  if (!training["phases"].is_array()) return;
  json before = json::object();
  for (const char* key : {"schedule", "batch", "sequence_length"}) before[key] = training[key];
  for (const auto& [part, key] : {std::pair("optimizer", "lr"), std::pair("masking", "max_predictions")})
    if (training[part].is_object() && training[part].contains(key)) before[part][key] = training[part][key];
  for (json& phase : training["phases"]) {
    if (!phase.is_object()) continue;
    if (before["schedule"].is_object()) before["schedule"].erase("steps");
    fill(phase, before);
    before = phase;
  }
}

void fill_optimizer(json& training, const FamilyTraits& family) {
  if (!training.contains("optimizer") || !training["optimizer"].is_object()) return;
  json& optimizer = training["optimizer"];
  if (optimizer.value("name", json(to_string(OptimizerSpec{}.name))) == to_string(OptimizerKind::adamw))
    set_default(optimizer, "epsilon", family.adamw_epsilon);
}

// All questions are scored, as the official scripts do.
void fill_squad(json& filled) {
  JobSpec spec;
  spec.training.task = TrainingTask::squad;
  const json defaults = to_json(spec);
  for (const char* part : {"training", "evaluate"}) {
    set_default(filled[part], "squad", json::object());
    if (filled[part]["squad"].is_object()) fill(filled[part]["squad"], defaults[part]["squad"]);
  }
  set_default(filled["evaluate"], "sequences", kAllSequences);
}

// Without a header columns have numbers. Labels are text, also where YAML takes them for whole numbers.
void fill_classify(json& training, const json& model) {
  set_default(training, "classify", json::object());
  json& classify = training["classify"];
  if (!classify.is_object()) return;
  if (classify.value("header", json(true)) == false) {
    set_default(classify, "sentence", 1);
    set_default(classify, "label", 2);
  }
  if (model.contains("dropout")) set_default(classify, "dropout", model["dropout"]);
  fill(classify, to_json(ClassifySpec{}));
  if (!classify.contains("labels") || !classify["labels"].is_array()) return;
  for (json& label : classify["labels"])
    if (label.is_number_integer()) label = label.dump();
}

void fill_quantise(json& training) {
  if (training.contains("quantise") && training["quantise"].is_object())
    fill(training["quantise"], to_json(QuantiseSpec{}));
}

void fill_distill(json& training) {
  if (training.contains("distill") && training["distill"].is_object())
    fill(training["distill"], to_json(DistillSpec{}));
}

void fill_after(json& after) {
  for (json& on : after)
    if (on.is_object()) set_default(on, "when", to_string(Dependency{}.when));
}

// A number means that many.
void fill_replicas(json& replicas) {
  if (replicas.is_number_integer()) replicas = {{"min", replicas}, {"max", replicas}};
  if (!replicas.is_object() || replicas.contains("max")) return;
  if (replicas.value("min", json()).is_number_integer()) replicas["max"] = replicas["min"];
}

void fill_data(json& data) {
  if (data.contains("train") && data["train"].is_string()) data["train"] = json::array({data["train"]});
  if (!data.contains("tokenizer") || !data["tokenizer"].is_object()) return;
  json& tokenizer = data["tokenizer"];
  if (tokenizer.contains("wordpiece") && !tokenizer.contains("bpe"))
    set_default(tokenizer, "lowercase", TokenizerSpec{}.lowercase);
}

// The last part of a path or of an address without its query.
std::string last_part(std::string from) {
  if (const std::size_t query = from.find_first_of("?#"); from.find("://") != std::string::npos)
    from = from.substr(0, query);
  while (from.ends_with('/')) from.pop_back();
  return from.substr(from.rfind('/') + 1);
}

void fill_program(json& filled) {
  if (filled.value("launcher", json()) == to_string(Launcher::torchrun))
    set_default(filled, "processes", to_string(Processes::node));
  if (!filled.contains("inputs") || !filled["inputs"].is_array()) return;
  for (json& input : filled["inputs"])
    if (input.is_object() && input.value("from", json()).is_string())
      set_default(input, "to", last_part(input["from"]));
}

}  // namespace

std::string preset_names(std::string_view family) {
  std::string names;
  for (const ModelPreset& preset : kPresets)
    if (preset.family == family) names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

const ModelPreset* find_preset(std::string_view name) {
  for (const ModelPreset& preset : kPresets)
    if (preset.name == name) return &preset;
  return nullptr;
}

json with_defaults(const json& document) {
  json filled = document;
  const auto part = [&](const char* key) {
    return filled.contains(key) && filled[key].is_object() ? &filled[key] : nullptr;
  };
  const bool service = is_service(document);
  if (service && filled.contains("replicas")) fill_replicas(filled["replicas"]);
  if (json* model = service ? nullptr : part("model")) {
    fill_model(*model);
    const FamilyTraits& family = family_of(*model);
    if (json* training = part("training")) {
      set_default(*training, "task", to_string(family.tasks.front()));
      fill_optimizer(*training, family);
      fill_quantise(*training);
      fill_distill(*training);
    }
  }
  if (json* training = part("training"); training && training->value("task", json()) == "squad") {
    if (!filled.contains("evaluate")) filled["evaluate"] = json::object();
    if (part("evaluate")) fill_squad(filled);
  }
  if (json* training = part("training"); training && training->value("task", json()) == "classify")
    fill_classify(*training, filled.value("model", json::object()));
  if (json* data = part("data")) fill_data(*data);
  if (json* code = part("code"); code && code->contains("git")) set_default(*code, "folder", ".");
  if (filled.contains("command")) fill_program(filled);
  if (json* stop = part("stop"); stop && !service) fill(*stop, to_json(StopSpec{}));
  if (part("mlperf") && !service && !filled.contains("command")) {
    if (!filled.contains("evaluate")) filled["evaluate"] = json::object();
    fill_mlperf(filled);
  }
  if (filled.contains("after") && filled["after"].is_array()) fill_after(filled["after"]);
  json defaults = struct_defaults(document);
  for (const char* key : {"model", "training", "resources"})
    if (!document.contains(key)) defaults.erase(key);
  fill(filled, defaults);
  if (json* training = part("training"); training && training->contains("phases")) fill_phases(*training);
  return filled;
}

}  // namespace podium
