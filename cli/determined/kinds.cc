#include "cli/determined/kinds.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <string>

namespace podium::cli {
namespace {

using nlohmann::json;

bool is_text(const json& value) { return value.is_string(); }
bool is_name(const json& value) { return value.is_string() || value.is_number(); }
bool is_flag(const json& value) { return value.is_boolean(); }
bool is_mapping(const json& value) { return value.is_object(); }
bool is_list(const json& value) { return value.is_array(); }
bool is_program(const json& value) { return value.is_string() || value.is_array() || value.is_object(); }
bool is_variables(const json& value) { return value.is_array() || value.is_object(); }
bool is_length(const json& value) { return value.is_object() || value.is_number(); }
bool is_whole(const json& value) {
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
}
// Of which the most that there can be are taken, however many are asked for.
bool is_count(const json& value) {
  return value.is_number_integer() || (value.is_number_float() && value.get<double>() >= 9e18);
}

struct Kind {
  const char* pointer;
  bool (*fits)(const json&);
  const char* words;
};

// What contains others comes before them.
constexpr std::array kKinds{
    Kind{"/name", is_name, "a text"},
    Kind{"/description", is_name, "a text"},
    Kind{"/labels", is_list, "a list of texts"},
    Kind{"/workspace", is_name, "a text"},
    Kind{"/project", is_name, "a text"},
    Kind{"/entrypoint", is_program, "a command or a class"},
    Kind{"/hyperparameters", is_mapping, "a mapping of names to values"},
    Kind{"/max_restarts", is_whole, "a whole number"},
    Kind{"/records_per_epoch", is_whole, "a whole number"},
    Kind{"/min_validation_period", is_length, "a length such as {batches: 100}"},
    Kind{"/min_checkpoint_period", is_length, "a length such as {batches: 100}"},
    Kind{"/searcher", is_mapping, "a mapping"},
    Kind{"/searcher/name", is_text, "a text"},
    Kind{"/searcher/metric", is_text, "a text"},
    Kind{"/searcher/mode", is_text, "a text"},
    Kind{"/searcher/smaller_is_better", is_flag, "true or false"},
    Kind{"/searcher/max_length", is_length, "a length such as {batches: 100}"},
    Kind{"/searcher/max_trials", is_count, "a whole number"},
    Kind{"/searcher/divisor", is_whole, "a whole number"},
    Kind{"/searcher/max_rungs", is_whole, "a whole number"},
    Kind{"/searcher/num_rungs", is_whole, "a whole number"},
    Kind{"/resources", is_mapping, "a mapping"},
    Kind{"/resources/slots_per_trial", is_whole, "a whole number"},
    Kind{"/resources/slots", is_whole, "a whole number"},
    Kind{"/resources/priority", is_whole, "a whole number"},
    Kind{"/resources/agent_label", is_name, "a text"},
    Kind{"/resources/resource_pool", is_name, "a text"},
    Kind{"/resources/is_single_node", is_flag, "true or false"},
    Kind{"/environment", is_mapping, "a mapping"},
    Kind{"/environment/environment_variables", is_variables, "a list of NAME=VALUE"},
    Kind{"/reproducibility", is_mapping, "a mapping"},
    Kind{"/reproducibility/experiment_seed", is_whole, "a whole number"},
};

// "two", 7, a list
std::string shown(const json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "a mapping";
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 60 ? "a long text" : text;
}

}  // namespace

void leave_wrong_kinds(DeterminedExperiment& experiment) {
  for (const Kind& kind : kKinds) {
    const json& value = experiment.at(kind.pointer);
    if (value.is_null() || kind.fits(value)) continue;
    experiment.left(kind.pointer, fmt::format("must be {}, and is {}", kind.words, shown(value)));
    experiment.drop(kind.pointer);
  }
}

}  // namespace podium::cli
