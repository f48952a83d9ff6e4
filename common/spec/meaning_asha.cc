// The rules about a sweep that ends its losing trials.
#include <spdlog/fmt/fmt.h>

#include "common/spec/asha.h"
#include "common/spec/goals.h"
#include "common/spec/load.h"
#include "common/spec/meaning.h"
#include "common/spec/sweep.h"

namespace podium {
namespace {

constexpr int kStandardReduction = 4;

// All phases together; nothing where one is not known.
std::optional<std::int64_t> steps_of_training(const Facts& facts) {
  std::int64_t steps = 0;
  for (const PhaseFacts& phase : phases_of(facts)) {
    const auto here = phase.integer("/schedule/steps");
    if (!here) return std::nullopt;
    steps += *here;
  }
  return steps > 0 ? std::optional(steps) : std::nullopt;
}

std::optional<std::string> metric_of(const Facts& facts) {
  return facts.has("/sweep/asha/metric") ? facts.text("/sweep/asha/metric") : facts.text("/target/metric");
}

// In which direction its metric is better, where that is known although the sweep does not say it.
std::optional<Goal> known_goal(const Facts& facts, const std::string& metric) {
  if (!facts.has("/command"))
    if (const GoalMetric* own = find_goal(metric)) return own->goal;
  if (facts.text("/target/metric") != metric) return std::nullopt;
  const bool least = facts.has("/target/at_least"), most = facts.has("/target/at_most");
  return least == most ? std::nullopt : std::optional(most ? Goal::min : Goal::max);
}

void check_metric(const Facts& facts, Problems& problems) {
  const std::string at = "/sweep/asha/metric";
  const auto metric = metric_of(facts);
  if (!metric && !facts.has(at) && !facts.has("/target/metric"))
    problems.add_missing(
        at, "sweep.asha needs the key \"metric\", which the trials are compared by, as in eval/mlm_loss");
  if (!metric) return;
  if (facts.has(at) && !facts.has("/command")) check_reported(facts, at, *metric, problems);
  if (facts.has(at) && facts.has("/command") && !is_plausible_metric(*metric))
    problems.add(
        at, fmt::format("sweep.asha.metric must be a metric's name such as eval/loss, not \"{}\"", *metric));
  const auto known = known_goal(facts, *metric);
  const auto written = facts.text("/sweep/asha/goal");
  if (!known && !facts.has("/sweep/asha/goal") && facts.has("/command"))
    problems.add_missing(
        "/sweep/asha/goal",
        fmt::format("sweep.asha needs the key \"goal\": whether less (min) or more (max) of {} is better",
                    *metric));
  if (known && written && *written != to_string(*known))
    problems.add("/sweep/asha/goal",
                 fmt::format("less of {0} is {1}; write \"goal: {2}\", or leave it out", *metric,
                             *known == Goal::min ? "better" : "worse", to_string(*known)));
}

// A rung decides nothing where no trial has told a metric yet.
void check_first_rung(const Facts& facts, Problems& problems) {
  const auto metric = metric_of(facts);
  const auto first = facts.integer("/sweep/asha/min_steps");
  if (facts.has("/command") || !metric || !first) return;
  const bool evaluated = metric->starts_with("eval/");
  const char* key = evaluated ? "/evaluate/every" : "/training/log_every";
  const auto every = facts.steps(key);
  if (!every || *every <= *first) return;
  problems.add(
      "/sweep/asha/min_steps",
      fmt::format("sweep.asha.min_steps ({}) must be at least {} ({}): before that step {} is not measured",
                  *first, evaluated ? "evaluate.every" : "training.log_every", *every, *metric));
}

void check_steps(const Facts& facts, Problems& problems) {
  const auto first = facts.integer("/sweep/asha/min_steps"), written = facts.integer("/sweep/asha/max_steps");
  const auto steps = facts.has("/command") ? std::nullopt : steps_of_training(facts);
  if (facts.has("/command") && !facts.has("/sweep/asha/max_steps"))
    problems.add_missing(
        "/sweep/asha/max_steps",
        "sweep.asha needs the key \"max_steps\": how many steps your program takes to its end");
  if (steps && written && *written != *steps)
    problems.add(
        "/sweep/asha/max_steps",
        fmt::format(
            "sweep.asha.max_steps ({}) must be the steps of the schedule ({}), which winners train to; "
            "leave it out, or change training.schedule.steps",
            *written, *steps));
  else if (const auto last = steps ? steps : written; first && last && *first >= *last)
    problems.add("/sweep/asha/min_steps",
                 fmt::format("sweep.asha.min_steps ({}) must be below the steps that winners train to ({})",
                             *first, *last));
  if (facts.has("/sweep/training.schedule.steps"))
    problems.add_key(
        "/sweep/training.schedule.steps",
        "sweep cannot vary training.schedule.steps with asha, whose trials all train to the same step");
  check_first_rung(facts, problems);
}

}  // namespace

void check_asha(const Facts& facts, Problems& problems) {
  if (!facts.has("/sweep/asha") || !facts.all()["sweep"]["asha"].is_object()) return;
  if (facts.has("/scaling"))
    problems.add_key("/sweep/asha", "sweep.asha compares trials of one size; remove scaling, or asha");
  check_metric(facts, problems);
  check_steps(facts, problems);
  const auto reduction =
      facts.has("/sweep/asha/reduction") ? facts.integer("/sweep/asha/reduction") : kStandardReduction;
  const std::size_t trials = count_of_sweep(facts.all(), kMaxJobsOfExperiment + 1);
  if (reduction && trials < static_cast<std::size_t>(*reduction))
    problems.add_key("/sweep/asha",
                     fmt::format("the sweep has {} trial{}, of which none is the best 1/{}; vary more "
                                 "values, or write a smaller \"reduction\"",
                                 trials, trials == 1 ? "" : "s", *reduction));
}

std::optional<Asha> asha_of(const nlohmann::json& filled) {
  const Facts facts(filled);
  if (!facts.has("/sweep/asha")) return std::nullopt;
  Asha asha;
  asha.metric = metric_of(facts).value();
  const auto goal = facts.text("/sweep/asha/goal");
  asha.goal = goal ? goal_from(*goal) : known_goal(facts, asha.metric).value();
  asha.min_steps = facts.integer("/sweep/asha/min_steps").value();
  const auto written = facts.integer("/sweep/asha/max_steps");
  asha.max_steps = written ? *written : steps_of_training(facts).value();
  asha.reduction = static_cast<int>(facts.integer("/sweep/asha/reduction").value_or(kStandardReduction));
  return asha;
}

}  // namespace podium
