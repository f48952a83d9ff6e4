// The rules about the metric that stops a job's clock.
#include <spdlog/fmt/fmt.h>

#include "common/spec/goals.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

void check_bounds(const Facts& facts, const GoalMetric* goal, Problems& problems) {
  const bool at_least = facts.has("/target/at_least");
  const bool at_most = facts.has("/target/at_most");
  if (at_least && at_most)
    problems.add_key("/target/at_most", "target has both at_least and at_most; keep one");
  if (!at_least && !at_most)
    problems.add_missing("/target/at_least", "target needs a threshold: at_least, or at_most for a loss");
  if (!goal || at_least == at_most) return;
  if (goal->goal == Goal::min && at_least)
    problems.add_key("/target/at_least",
                     fmt::format("{} falls as training goes on, so at_least would be reached at once; "
                                 "use at_most",
                                 goal->key));
  if (goal->goal == Goal::max && at_most)
    problems.add_key("/target/at_most",
                     fmt::format("{} rises as training goes on, so at_most would be reached at once; use "
                                 "at_least",
                                 goal->key));
}

// A share as bound of what is told in percent would be reached at once.
void check_percent(const Facts& facts, std::string_view metric, Problems& problems) {
  if (metric != "eval/f1" && metric != "eval/exact_match") return;
  const std::string at = "/target/at_least";
  const auto bound = facts.number(at);
  if (bound && *bound > 0 && *bound <= 1)
    problems.add(at, fmt::format("{} is in percent, from 0 to 100, and this bound is {}: write {}", metric,
                                 *bound, 100 * *bound));
}

}  // namespace

void check_target(const Facts& facts, Problems& problems) {
  if (!facts.has("/target") || !facts.all()["target"].is_object()) return;
  const auto metric = facts.text("/target/metric");
  check_bounds(facts, metric ? find_goal(*metric) : nullptr, problems);
  if (!metric) return;
  if (!facts.has("/command")) check_percent(facts, *metric, problems);
  if (!facts.has("/command"))
    check_reported(facts, "/target/metric", *metric, problems);
  else if (!is_plausible_metric(*metric))
    problems.add("/target/metric",
                 fmt::format("target.metric must be a metric's name such as eval/loss, not \"{}\"", *metric));
}

void check_best(const Facts& facts, Problems& problems) {
  const std::string at = "/checkpoint/best";
  const auto metric = facts.text(at);
  if (!metric || *metric == kNoBest) return;
  if (!metric->starts_with("eval/"))
    problems.add(
        at, fmt::format("checkpoint.best must be a metric of evaluations such as eval/loss, or none, not "
                        "\"{}\"",
                        *metric));
  else
    check_reported(facts, at, *metric, problems);
}

}  // namespace podium
