#include "common/spec/goals.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "common/spec/suggest.h"

namespace podium {
namespace {

// The metrics that podium-worker reports and that can be a goal; docs/protocols.md, "Metric names", lists
// them all.
constexpr GoalMetric kGoals[] = {{"train/loss", Goal::min, {}},
                                 {"train/mlm_loss", Goal::min, {"pretrain"}},
                                 {"train/nsp_loss", Goal::min, {"pretrain"}},
                                 {"train/sequences_per_second", Goal::max, {}},
                                 {"train/tokens_per_second", Goal::max, {}},
                                 {"eval/mlm_loss", Goal::min, {"pretrain"}},
                                 {"eval/mlm_accuracy", Goal::max, {"pretrain"}},
                                 {"eval/nsp_accuracy", Goal::max, {"pretrain"}},
                                 {"eval/loss", Goal::min, {"classify", "regression", "lm"}},
                                 {"eval/accuracy", Goal::max, {"classify", "lm"}},
                                 {"eval/exact_match", Goal::max, {"squad"}},
                                 {"eval/f1", Goal::max, {"squad", "classify"}},
                                 {"eval/matthews_correlation", Goal::max, {"classify"}},
                                 {"eval/pearson", Goal::max, {"regression"}},
                                 {"eval/spearman", Goal::max, {"regression"}},
                                 {"eval/perplexity", Goal::min, {"lm"}},
                                 {"eval/gain_over_unigram", Goal::max, {"pretrain", "lm"}}};

// It tells how fast held-out text is read, and not how well.
constexpr const char* kEvaluationSpeed = "eval/sequences_per_second";

bool is_reported(const GoalMetric& goal, const std::optional<std::string>& task) {
  return !task || goal.tasks[0] == nullptr ||
         std::ranges::any_of(goal.tasks, [&](const char* name) { return name != nullptr && *task == name; });
}

}  // namespace

const GoalMetric* find_goal(const std::string& key) {
  const auto found =
      std::ranges::find_if(kGoals, [&key](const GoalMetric& metric) { return key == metric.key; });
  return found == std::end(kGoals) ? nullptr : &*found;
}

// Names like ours: words joined by slashes.
bool is_plausible_metric(const std::string& key) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  bool after_slash = true;
  for (const char c : key) {
    if (!is_word(c) && (c != '/' || after_slash)) return false;
    after_slash = c == '/';
  }
  return !after_slash;
}

void check_reported(const Facts& facts, const std::string& pointer, const std::string& metric,
                    Problems& problems) {
  auto task = facts.text("/training/task");
  std::string told = task ? " with the task " + *task : "";
  if (task == "classify" && facts.flag("/training/classify/regression") == true) {
    task = "regression";
    told += " and regression";
  }
  std::vector<std::string> names;
  for (const GoalMetric& goal : kGoals)
    if (is_reported(goal, task)) names.emplace_back(goal.key);
  if (metric == kEvaluationSpeed) {
    problems.add(pointer,
                 fmt::format("{} tells how fast held-out text is predicted and not how well: no weights are "
                             "better by it; choose one of {}",
                             metric, fmt::join(names, ", ")));
  } else if (std::find(names.begin(), names.end(), metric) == names.end()) {
    const auto near = closest(metric, names);
    problems.add(pointer, fmt::format("podium-worker has no metric \"{}\" to aim at{}; {}", metric, told,
                                      near ? "did you mean \"" + *near + "\"?"
                                           : fmt::format("it has {}", fmt::join(names, ", "))));
  } else if (metric.starts_with("eval/") && facts.steps("/evaluate/every") == 0 &&
             !facts.has("/evaluate/data")) {
    problems.add(pointer,
                 fmt::format("{} is only measured by evaluation; add \"evaluate: {{every: 100 steps, data: "
                             "heldout.txt}}\"",
                             metric));
  }
}

}  // namespace podium
