// config.json, whose keys are those of the model's family. What the models here compute in one way only, such
// as the activation, must be that way in the file, too.
#include "worker/formats/hugging_face_config.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/model/family.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr char kInitializerRange[] = "initializer_range";
constexpr char kRopeParameters[] = "rope_parameters";
constexpr char kLabelNames[] = "id2label", kLabelCount[] = "num_labels";
constexpr char kPairs[] = "podium_pair";               // a key of ours
constexpr char kHeadDropout[] = "classifier_dropout";  // null: as the layers have it
constexpr int kMostLabels = 1000;                      // as a spec may name
constexpr char kClasses[] = "single_label_classification", kValue[] = "regression";  // problem_type
constexpr int kMostPadding = 1024;  // of a vocabulary, to a size that its ranks can divide
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

  std::string text(std::string_view key) const {
    const json value = json_.value(key, json());
    return value.is_string() ? value.get<std::string>() : "";
  }

  int count(std::string_view key, int most = kLargest) const {
    const json value = json_.value(key, json());
    if (!value.is_number_integer() || value < 1 || value > most)
      throw BadData(fmt::format("{}: {} must be a number from 1 to {}", path_, key, most));
    return value;
  }

  // Where there is no such key, or the family has none, `standard`.
  double number(std::string_view key, double standard) const {
    if (key.empty()) return standard;
    const json value = json_.value(key, json(standard));
    if (!value.is_number()) throw BadData(fmt::format("{}: {} must be a number", path_, key));
    return value;
  }

  // False where there is no such key, or the family has none.
  bool flag(std::string_view key) const {
    const json value = json_.value(key, json(false));
    if (!value.is_boolean()) throw BadData(fmt::format("{}: {} must be true or false", path_, key));
    return value;
  }

  // Of a classifier, beside its labels.
  std::optional<bool> pairs() const { return is_set(kPairs) ? std::optional(flag(kPairs)) : std::nullopt; }
  std::optional<double> head_dropout() const {
    return is_set(kHeadDropout) ? std::optional(number(kHeadDropout, 0)) : std::nullopt;
  }

  // Whether the key's array holds this text.
  bool lists(std::string_view key, std::string_view text) const {
    const json value = json_.value(key, json());
    return value.is_array() && std::ranges::find(value, json(text)) != value.end();
  }

  // What the outputs of a head stand for, by number; none where it predicts a value.
  std::vector<std::string> labels() const {
    const std::string problem = text("problem_type");
    if (!problem.empty() && problem != kClasses && problem != kValue)
      throw BadData(path_ + ": problem_type is \"" + problem + "\"; podium-worker knows " + kClasses +
                    " and " + kValue);
    const std::vector<std::string> names = label_names();
    if (problem == kValue && names.size() != 1)
      throw BadData(path_ + ": regression of " + std::to_string(names.size()) +
                    " values; podium-worker predicts one");
    return problem == kValue || (problem.empty() && names.size() == 1) ? std::vector<std::string>{} : names;
  }

  bool is_set(std::string_view key) const { return json_.contains(key) && !json_[key].is_null(); }

  // The base of rotary angles, under `key` or, as transformers keeps it since version 5, among the angles'
  // parameters.
  double rope_theta(std::string_view key, double standard) const {
    if (key.empty() || !is_set(kRopeParameters)) return number(key, standard);
    const json& parameters = json_[kRopeParameters];
    const json theta = parameters.is_object() ? parameters.value("rope_theta", json(standard)) : json();
    if (!theta.is_number() || parameters.value("rope_type", "default") != "default")
      refuse(kRopeParameters, {{"rope_type", "default"}, {"rope_theta", standard}});
    return theta;
  }

  // Where the key is there, it has to have this value.
  void expect(std::string_view key, const json& value) const {
    if (is_set(key) && json_[key] != value) refuse(key, value);
  }
  void expect_near(std::string_view key, double value) const {
    if (std::abs(number(key, value) - value) > 1e-6 * value) refuse(key, value);
  }

 private:
  // As transformers has it: two where the file names none.
  std::vector<std::string> label_names() const {
    if (!is_set(kLabelNames)) {
      const int outputs = is_set(kLabelCount) ? count(kLabelCount, kMostLabels) : 2;
      std::vector<std::string> unnamed;
      for (int number = 0; number < outputs; ++number)
        unnamed.push_back(unnamed_label(static_cast<std::size_t>(number)));
      return unnamed;
    }
    const json& names = json_[kLabelNames];
    std::vector<std::string> result;
    while (names.is_object() && names.contains(std::to_string(result.size())) &&
           names[std::to_string(result.size())].is_string())
      result.push_back(names[std::to_string(result.size())]);
    if (!names.is_object() || result.empty() || result.size() != names.size())
      throw BadData(path_ + ": " + kLabelNames + " must give a name to each number from 0 on");
    for (std::size_t number = 0; number < result.size(); ++number)
      if (std::ranges::count(result, result[number]) > 1)
        throw BadData(path_ + ": " + kLabelNames + " gives two numbers the name \"" + result[number] + "\"");
    return result;
  }

  [[noreturn]] void refuse(std::string_view key, const json& value) const {
    throw BadData(fmt::format("{}: {} is {}; podium-worker computes {} only", path_, key, json_[key].dump(),
                              value.dump()));
  }

  std::string path_;
  json json_;
};

ModelSpec read_model(const Config& config, const Family& family) {
  const HuggingFaceForm& form = family.hugging_face;
  const json required = json::parse(form.required);
  for (const auto& [key, value] : required.items()) config.expect(key, value);
  config.expect_near(form.norm_epsilon, family.norm_epsilon);
  ModelSpec spec;
  spec.family = family.family;
  spec.layers = config.count(form.layers, kMostLayers);
  spec.hidden = config.count(form.hidden);
  spec.heads = config.count(form.heads);
  spec.intermediate = form.intermediate_may_lack && !config.is_set(form.intermediate)
                          ? 4 * spec.hidden
                          : config.count(form.intermediate);
  config.expect(form.head_size, spec.hidden / spec.heads);
  if (config.is_set(form.key_value_heads)) spec.key_value_heads = config.count(form.key_value_heads);
  spec.rope_theta = config.rope_theta(form.rope_theta, spec.rope_theta);
  spec.tie_embeddings = config.flag(form.tie_embeddings);
  spec.vocab = config.count(form.vocab);
  spec.max_positions = config.count(form.max_positions);
  spec.dropout = config.number(form.dropout, traits_of(family.family).dropout);
  if (!form.embedding_dropout.empty()) config.expect_near(form.embedding_dropout, spec.dropout);
  spec.attention_dropout = config.number(form.attention_dropout, traits_of(family.family).dropout);
  spec.initializer_range = config.number(kInitializerRange, spec.initializer_range);
  return spec;
}

std::string_view architecture_of(const Family& family, const ModelHead& head) {
  if (head.tokens_alone) return family.token_head->architecture;
  const TaskHead* const trained = family.find_task_head(head.task);
  return trained == nullptr ? family.hugging_face.architecture : trained->architecture;
}

ModelHead read_labelled_head(const Config& config, TrainingTask task) {
  ModelHead head(task, config.labels());
  head.pairs = config.pairs();
  head.dropout = config.head_dropout();
  return head;
}

void write_labelled_head(const ModelHead& head, json& config) {
  if (head.pairs) config[kPairs] = *head.pairs;
  if (head.dropout) config[kHeadDropout] = *head.dropout;
  const std::vector<std::string>& labels = head.labels;
  const std::vector<std::string> names = labels.empty() ? std::vector{unnamed_label(0)} : labels;
  for (std::size_t number = 0; number < names.size(); ++number) {
    config[kLabelNames][std::to_string(number)] = names[number];
    config["label2id"][names[number]] = number;
  }
  config["problem_type"] = labels.empty() ? kValue : kClasses;
}

// As text: "bert, gpt2, llama".
std::string known_types() {
  std::string text;
  for (const FamilyTraits& traits : families())
    text += (text.empty() ? "" : ", ") + std::string(family_of(traits.family).hugging_face.model_type);
  return text;
}

}  // namespace

ModelSpec read_hugging_face_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  const Config config(path);
  const std::string type = config.text("model_type");
  if (const Family* family = find_hugging_face_family(type)) return read_model(config, *family);
  throw BadData(path.string() + ": model_type is \"" + type + "\"; podium-worker knows " + known_types());
}

ModelHead read_hugging_face_head(const std::filesystem::path& folder) {
  const Config config(folder / "config.json");
  const Family* const family = find_hugging_face_family(config.text("model_type"));
  if (family != nullptr)
    for (const TaskHead& head : family->task_heads)
      if (config.lists("architectures", head.architecture))
        return head.has_labels ? read_labelled_head(config, head.task) : ModelHead(head.task);
  return {};
}

std::string unnamed_label(std::size_t number) { return "LABEL_" + std::to_string(number); }

std::string hugging_face_config(const ModelSpec& spec, const ModelHead& head) {
  const Family& family = family_of(spec);
  const HuggingFaceForm& form = family.hugging_face;
  json config = json::parse(form.written);
  const auto set = [&config](std::string_view key, json value) {
    if (!key.empty()) config[std::string(key)] = std::move(value);
  };
  set("model_type", form.model_type);
  set("architectures", json::array({architecture_of(family, head)}));
  if (const TaskHead* const of_task = family.find_task_head(head.task);
      of_task != nullptr && of_task->has_labels)
    write_labelled_head(head, config);
  set(form.layers, spec.layers);
  set(form.hidden, spec.hidden);
  set(form.heads, spec.heads);
  set(form.key_value_heads, spec.key_heads());
  set(form.rope_theta, spec.rope_theta);
  set(form.tie_embeddings, spec.tie_embeddings);
  set(form.intermediate, spec.intermediate);
  set(form.vocab, spec.vocab);
  set(form.max_positions, spec.max_positions);
  set(form.dropout, spec.dropout);
  set(form.embedding_dropout, spec.dropout);
  set(form.attention_dropout, spec.attention_dropout);
  set(kInitializerRange, spec.initializer_range);
  set(form.norm_epsilon, family.norm_epsilon);
  if (form.end_of_text >= 0) {
    const int padding = spec.vocab - (form.end_of_text + 1);
    const bool of_its_vocabulary = padding >= 0 && padding < kMostPadding;
    config["bos_token_id"] = config["eos_token_id"] =
        of_its_vocabulary ? json(form.end_of_text) : json(nullptr);
  }
  return config.dump(2) + "\n";
}

}  // namespace podium
