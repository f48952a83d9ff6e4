#include "cli/determined/search.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "common/spec/goals.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostSwept = 8;  // of a sweep's 11 keys; the others are trials, seed and asha
constexpr std::int64_t kMostTrials = 1000, kLargestSeed = INT32_MAX;  // of Determined
const std::string kSearcher = "/searcher", kName = "/searcher/name";

std::string path_of(const Hyperparameter& parameter) { return "parameters." + parameter.name; }

// One value of those that it ranges over.
void settle(Hyperparameter& parameter) {
  if (!parameter.values.is_null())
    parameter.value = parameter.values[0];
  else
    parameter.value = parameter.range["from"];
  parameter.values = parameter.range = parameter.grid = nullptr;
}

void settle_all(DeterminedExperiment& experiment, std::vector<Hyperparameter>& parameters, const char* why) {
  for (Hyperparameter& parameter : parameters) {
    if (!parameter.varied()) continue;
    settle(parameter);
    experiment.changed(parameter.pointer,
                       fmt::format("{}: it is {} here; choose one", why, parameter.value.dump()));
  }
}

std::int64_t trials_of(DeterminedExperiment& experiment) {
  const std::string pointer = "/searcher/max_trials";
  const std::int64_t beyond = experiment.at(pointer).is_number() ? INT64_MAX : 2;  // of 64 bits; of none
  const std::int64_t asked = experiment.integer(pointer).value_or(beyond);
  const std::int64_t trials = std::clamp<std::int64_t>(asked, 2, kMostTrials);
  if (!experiment.has(pointer))
    experiment.changed(kName, "has no max_trials: 2 here");
  else if (trials != asked)
    experiment.changed(pointer, fmt::format("a sweep has 2 to 1,000 trials: {} here", trials));
  return trials;
}

struct Ladder {
  std::int64_t first = 0, last = 0, reduction = 0;
};

// Of its brackets the one that stops earliest.
std::optional<Ladder> ladder_of(DeterminedExperiment& experiment, const Length& length) {
  Ladder ladder{length.count, length.count, experiment.integer("/searcher/divisor").value_or(4)};
  ladder.reduction = std::clamp<std::int64_t>(ladder.reduction, 2, 1000);
  const std::int64_t rungs =
      std::clamp<std::int64_t>(experiment.integer("/searcher/max_rungs")
                                   .value_or(experiment.integer("/searcher/num_rungs").value_or(5)),
                               2, 40);
  for (std::int64_t i = 1; i < rungs && ladder.first >= ladder.reduction; ++i)
    ladder.first =
        (ladder.first - 1) / ladder.reduction + 1;  // rounded down, a rung more would fit below the end
  if (ladder.first == ladder.last) return std::nullopt;
  return ladder;
}

void add_asha(DeterminedExperiment& experiment, const std::optional<Length>& length, ordered_json& sweep) {
  const std::string metric = experiment.text("/searcher/metric");
  const auto ladder = length ? ladder_of(experiment, *length) : std::nullopt;
  if (metric.empty() || !is_plausible_metric(metric) || !ladder ||
      sweep["trials"].get<std::int64_t>() < ladder->reduction)
    return experiment.left(kName,
                           "stopping trials early needs a metric (letters, digits and . _ - /), a max_length "
                           "of several rungs, and as many trials as divisor: every "
                           "trial runs to its end. sweep.asha says when to stop them");
  const bool less = experiment.at("/searcher/smaller_is_better") != json(false);
  sweep["asha"] = {{"metric", metric},
                   {"goal", less ? "min" : "max"},
                   {"min_steps", ladder->first},
                   {"max_steps", ladder->last},
                   {"reduction", ladder->reduction}};
  const std::string mode = experiment.text("/searcher/mode", "standard");
  if (experiment.text(kName).starts_with("adaptive") && mode != "aggressive")
    experiment.changed(
        experiment.has("/searcher/mode") ? "/searcher/mode" : kName,
        fmt::format("of the brackets of the mode {} this is the one that stops earliest, as in the mode "
                    "aggressive; a larger sweep.asha.min_steps stops later",
                    mode));
  experiment.changed(
      "/searcher/metric",
      fmt::format("the program tells {} with its step in {} (PODIUM_EVENTS, docs/your-own-program.md)",
                  metric, length->unit));
}

ordered_json random_sweep(DeterminedExperiment& experiment, std::vector<Hyperparameter>& parameters) {
  ordered_json sweep;
  sweep["trials"] = trials_of(experiment);
  const auto seed = experiment.integer("/reproducibility/experiment_seed");
  if (seed && *seed >= 0 && *seed <= kLargestSeed) sweep["seed"] = *seed;
  std::size_t swept = 0;
  for (Hyperparameter& parameter : parameters) {
    if (!parameter.varied()) continue;
    if (swept == kMostSwept) {
      settle(parameter);
      experiment.changed(parameter.pointer, fmt::format("a sweep varies at most {} parameters: it is {} here",
                                                        kMostSwept, parameter.value.dump()));
      continue;
    }
    ++swept;
    sweep[path_of(parameter)] = parameter.range.is_null() ? parameter.values : parameter.range;
  }
  return sweep;
}

ordered_json grid_sweep(DeterminedExperiment& experiment, std::vector<Hyperparameter>& parameters) {
  ordered_json sweep;
  std::int64_t trials = 1;
  for (Hyperparameter& parameter : parameters) {
    if (!parameter.varied()) continue;
    const auto values = std::ssize(parameter.grid);  // of null 0
    if (values == 0 || sweep.size() == kMostSwept || trials * values > kMostTrials) {
      settle(parameter);
      experiment.changed(parameter.pointer, fmt::format("{}: it is {} here",
                                                        values == 0 ? "a grid needs its count"
                                                                    : "a grid has at most 8 "
                                                                      "parameters and 1,000 points",
                                                        parameter.value.dump()));
      continue;
    }
    trials *= values;
    sweep[path_of(parameter)] = parameter.grid;
  }
  return sweep;
}

}  // namespace

ordered_json sweep_of(DeterminedExperiment& experiment, std::vector<Hyperparameter>& parameters,
                      const std::optional<Length>& length) {
  const std::string name = experiment.text(kName, "single");
  const bool varied = std::ranges::any_of(parameters, &Hyperparameter::varied);
  const bool halving = name == "adaptive_asha" || name == "asha" || name == "async_halving" ||
                       name == "sync_halving" || name == "adaptive" || name == "adaptive_simple";
  if (name == "grid") return grid_sweep(experiment, parameters);
  if (name != "random" && !halving) {
    if (name != "single")
      experiment.left(
          kName, fmt::format("the search {} has no counterpart: random values with sweep.trials, or with "
                             "sweep.asha, are nearest; one trial here",
                             name));
    settle_all(experiment, parameters, "one trial needs one value");
    return nullptr;
  }
  if (!varied) {
    experiment.changed(kName, "no hyperparameter is searched: one trial here");
    return nullptr;
  }
  ordered_json sweep = random_sweep(experiment, parameters);
  if (halving) add_asha(experiment, length, sweep);
  return sweep;
}

}  // namespace podium::cli
