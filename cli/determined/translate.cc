#include "cli/determined/translate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

#include "cli/determined/entrypoint.h"
#include "cli/determined/hyperparameters.h"
#include "cli/determined/kinds.h"
#include "cli/determined/leftovers.h"
#include "cli/determined/lengths.h"
#include "cli/determined/search.h"
#include "common/base/text.h"
#include "common/model/program.h"
#include "common/spec/load.h"
#include "common/spec/source_map.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLongestName = 200, kLongestLabel = 200, kMostLabels = 32, kMostVariables = 100;
constexpr std::int64_t kMostDevices = 65'536;

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

std::string name_of(DeterminedExperiment& experiment, const std::string& file) {
  const std::string pointer = experiment.has("/name") ? "/name" : "/description";
  const std::string written = experiment.text(pointer, std::filesystem::path(file).stem().string());
  std::string name = written.substr(0, kLongestName);
  for (char& c : name)
    if (!is_letter_or_digit(c) && std::string_view("._=-").find(c) == std::string_view::npos) c = '-';
  if (name.empty() || !is_letter_or_digit(name[0])) name = ("x" + name).substr(0, kLongestName);
  if (name != written && experiment.has(pointer))
    experiment.changed(pointer, fmt::format("is {}: names have letters, digits and . _ - =", name));
  return name;
}

// Label keys have no space, comma or colon.
std::string label_key(std::string key) {
  std::ranges::replace_if(
      key, [](char c) { return c == ' ' || c == ',' || c == ':' || c == '='; }, '-');
  return cut_text(key, 60);
}

ordered_json labels_of(DeterminedExperiment& experiment) {
  ordered_json labels = ordered_json::object();
  for (const char* key : {"workspace", "project", "description"}) {
    const std::string pointer = std::string("/") + key;
    if (!experiment.has(pointer) || (pointer == "/description" && !experiment.has("/name"))) continue;
    labels[key] = cut_text(experiment.text(pointer), kLongestLabel - 10);
  }
  if (labels.contains("workspace"))
    experiment.changed("/workspace",
                       "is a label, as the project is: podium list --label workspace=… finds its jobs");
  const json& list = experiment.at("/labels");
  if (!list.is_array()) return labels;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string key = list[i].is_string() ? label_key(list[i].get<std::string>()) : "";
    if (key.empty() || key == "reproduces" || labels.size() == kMostLabels)
      experiment.left(fmt::format("/labels/{}", i),
                      "cannot be a label of a job: of those there are 32 at most, with text as their names");
    else
      labels[key] = "yes";
  }
  if (!list.empty()) experiment.changed("/labels", "labels have values: each is yes");
  return labels;
}

ordered_json resources_of(DeterminedExperiment& experiment, bool& gpu) {
  const std::string slots =
      experiment.has("/resources/slots_per_trial") ? "/resources/slots_per_trial" : "/resources/slots";
  const std::int64_t asked = experiment.integer(slots).value_or(1);
  const std::int64_t devices = std::clamp<std::int64_t>(asked, 1, kMostDevices);
  if (devices != asked && asked != 0) experiment.changed(slots, fmt::format("is {}", devices));
  gpu = asked != 0;
  if (!gpu) experiment.changed(slots, "0 slots are one CPU slot");
  ordered_json resources{{"devices", devices}, {"kind", gpu ? "gpu" : "cpu"}};
  for (const char* key : {"agent_label", "resource_pool"}) {
    const std::string pointer = std::string("/resources/") + key, value = experiment.text(pointer);
    if (value.empty()) continue;
    const bool plain =
        value.size() < 64 && std::ranges::all_of(value, [](char c) {
          return is_letter_or_digit(c) || std::string_view("_./-").find(c) != std::string_view::npos;
        });
    if (!plain) {
      experiment.left(pointer, "cannot be a label of nodes; resources.nodes says which nodes are meant");
      continue;
    }
    resources["nodes"][key] = value;
    experiment.changed(pointer,
                       fmt::format("nodes are chosen by labels: podium nodes label NODE {}={}", key, value));
  }
  if (experiment.at("/resources/is_single_node") == json(true)) resources["within"] = "node";
  return resources;
}

void add_variable(DeterminedExperiment& experiment, const std::string& pointer, const json& written,
                  ordered_json& env) {
  const std::string text = written.is_string() ? written.get<std::string>() : "";
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || !is_plain_name(name) || name.size() > 63 ||
      env.size() >= kMostVariables - 1)
    return experiment.left(pointer, "is no NAME=VALUE with letters, digits and _ in its name");
  if (is_reserved_variable(name))
    return experiment.left(pointer, fmt::format("{} is set by Podium itself", name));
  env[name] = without_placeholders(text.substr(equals + 1));
}

// A list, or lists by kind of device.
void add_variables(DeterminedExperiment& experiment, bool gpu, ordered_json& env) {
  const std::string pointer = "/environment/environment_variables";
  const json variables = experiment.at(pointer);
  const auto add_list = [&](const json& list, const std::string& at) {
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i)
      add_variable(experiment, fmt::format("{}/{}", at, i), list[i], env);
  };
  add_list(variables, pointer);
  if (!variables.is_object()) return;
  for (const auto& [kind, list] : variables.items()) {
    const bool ours = gpu ? kind == "cuda" || kind == "gpu" : kind == "cpu";
    const std::string at = pointer + "/" + pointer_step(kind);
    if (!list.is_array())
      experiment.left(at, "must be a list of NAME=VALUE");
    else if (ours)
      add_list(list, at);
    else
      experiment.left(at, "is for devices that this job has none of");
  }
}

ordered_json env_of(DeterminedExperiment& experiment, bool gpu) {
  ordered_json env = ordered_json::object();
  add_variables(experiment, gpu, env);
  const json& data = experiment.at("/data");
  if (data.is_null() || (data.is_object() && data.empty())) return env;
  const std::string text = data.dump();
  if (text.size() > 30'000) {
    experiment.left("/data", "is too long for a variable: give it to the program in a file");
  } else {
    env["DATA_CONFIG"] = without_placeholders(text);
    experiment.changed("/data", "reaches the program as JSON in the variable DATA_CONFIG");
  }
  return env;
}

void add_parameter(DeterminedExperiment& experiment, const std::string& pointer, const std::string& name,
                   const json& value, ordered_json& parameters) {
  for (const auto& [key, each] : parameters.items())
    if (parameter_variable(key) == parameter_variable(name))
      return experiment.left(pointer, fmt::format("a hyperparameter is named {} already", key));
  parameters[name] = value;
}

void add_length(DeterminedExperiment& experiment, const std::string& pointer, const char* name,
                const std::optional<Length>& length, ordered_json& parameters) {
  if (!length) return;
  add_parameter(experiment, pointer, fmt::format("{}_{}", name, length->unit), length->count, parameters);
  experiment.changed(pointer, fmt::format("is the program's own: the parameter {}_{}", name, length->unit));
}

ordered_json parameters_of(DeterminedExperiment& experiment,
                           const std::vector<Hyperparameter>& hyperparameters,
                           const std::optional<Length>& length, Lengths& lengths) {
  ordered_json parameters = ordered_json::object();
  for (const Hyperparameter& each : hyperparameters)
    if (!each.varied()) parameters[each.name] = each.value;
  add_length(experiment, "/searcher/max_length", "max", length, parameters);
  add_length(experiment, "/min_validation_period", "validation", lengths.of("/min_validation_period"),
             parameters);
  add_length(experiment, "/min_checkpoint_period", "checkpoint", lengths.of("/min_checkpoint_period"),
             parameters);
  if (const auto records = experiment.integer("/records_per_epoch"))
    add_parameter(experiment, "/records_per_epoch", "records_per_epoch", *records, parameters);
  if (const auto seed = experiment.integer("/reproducibility/experiment_seed"))
    add_parameter(experiment, "/reproducibility/experiment_seed", "seed", *seed, parameters);
  return parameters;
}

// Determined's smallest goes first, Podium's largest; the default of the one is that of the other.
constexpr std::int64_t kSumOfDefaults = 42 + 50;

void add_priority(DeterminedExperiment& experiment, ordered_json& spec) {
  const auto priority = experiment.integer("/resources/priority");
  if (!priority) return;
  spec["priority"] =
      std::clamp<std::int64_t>(kSumOfDefaults - std::clamp<std::int64_t>(*priority, 0, 100), 0, 100);
  experiment.changed(
      "/resources/priority",
      fmt::format("{} of 1 to 99, where the smallest goes first, is {} of 0 to 100, where the largest does",
                  *priority, spec["priority"].dump()));
}

Translation translate(DeterminedExperiment& experiment, const std::string& file) {
  leave_wrong_kinds(experiment);
  std::vector<Hyperparameter> hyperparameters = hyperparameters_of(experiment);
  Lengths lengths(experiment, hyperparameters);
  const std::optional<Length> length = lengths.of("/searcher/max_length");
  ordered_json sweep = sweep_of(experiment, hyperparameters, length);
  ordered_json parameters = parameters_of(experiment, hyperparameters, length, lengths);
  for (const auto& [path, values] : sweep.items())  // each has a value of its own beside the sweep's
    if (path.starts_with("parameters."))
      parameters[path.substr(11)] = values.is_array() ? values[0] : values["from"];
  const Command command = command_of(experiment);
  bool gpu = true;
  ordered_json spec{{"version", 1}, {"name", name_of(experiment, file)}};
  ordered_json resources = resources_of(experiment, gpu);
  const auto add = [&](const char* key, ordered_json value) {
    if (!value.empty()) spec[key] = std::move(value);
  };
  add("labels", labels_of(experiment));
  spec["code"] = {{"folder", "."}};
  spec["command"] = command.words;
  if (command.once_a_node || resources["devices"].get<std::int64_t>() > 1)
    spec["processes"] = "node";  // as Determined starts it
  add("env", env_of(experiment, gpu));
  add("parameters", std::move(parameters));
  spec["resources"] = std::move(resources);
  spec["restarts"] = {
      {"max", std::clamp<std::int64_t>(experiment.integer("/max_restarts").value_or(5), 0, 1000)}};
  add_priority(experiment, spec);
  if (!sweep.is_null()) add("sweep", std::move(sweep));
  note_leftovers(experiment);
  return {std::move(spec), experiment.take_notes()};
}

}  // namespace

Result<Translation> translate_determined(std::string_view yaml, const std::string& file) {
  Result<DeterminedExperiment> read = DeterminedExperiment::read(yaml, file);
  if (!read) return read.errors();
  DeterminedExperiment experiment = std::move(read).value();
  if (!experiment.has("/entrypoint") && !experiment.has("/searcher") && !experiment.has("/hyperparameters"))
    return Error{
        ErrorCode::invalid,
        "is no experiment of Determined's: it has neither an entrypoint, nor a searcher, nor hyperparameters",
        file};
  Translation translation = translate(experiment, file);
  const Result<LoadedExperiment> loaded = load_experiment(spec_text(translation, file), "the translation");
  if (!loaded) return loaded.errors();
  return translation;
}

}  // namespace podium::cli
