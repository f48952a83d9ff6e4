// The rules about the metric that stops a job's clock.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "common/spec/meaning.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

enum class Better { higher, lower };

struct Metric {
  const char* key;
  Better better;
  const char* family;  // that reports it; "" both
};

// What podium-worker reports and can be a goal; docs/protocols.md, "Metric names", has them all.
constexpr Metric kGoals[] = {{"train/loss", Better::lower, ""},
                             {"train/mlm_loss", Better::lower, "bert"},
                             {"train/nsp_loss", Better::lower, "bert"},
                             {"train/sequences_per_second", Better::higher, ""},
                             {"train/tokens_per_second", Better::higher, ""},
                             {"eval/mlm_loss", Better::lower, "bert"},
                             {"eval/mlm_accuracy", Better::higher, "bert"},
                             {"eval/nsp_accuracy", Better::higher, "bert"},
                             {"eval/loss", Better::lower, "gpt"},
                             {"eval/accuracy", Better::higher, "gpt"},
                             {"eval/perplexity", Better::lower, "gpt"},
                             {"eval/gain_over_unigram", Better::higher, ""}};

// A program may report what it likes, by names like ours: words joined by slashes.
bool is_plausible(const std::string& metric) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  bool after_slash = true;
  for (const char c : metric) {
    if (!is_word(c) && (c != '/' || after_slash)) return false;
    after_slash = c == '/';
  }
  return !after_slash;
}

void check_bounds(const Facts& facts, const Metric* goal, Problems& problems) {
  const bool at_least = facts.has("/target/at_least");
  const bool at_most = facts.has("/target/at_most");
  if (at_least && at_most)
    problems.add_key("/target/at_most", "target has both at_least and at_most; keep one");
  if (!at_least && !at_most)
    problems.add_missing("/target/at_least", "target needs a threshold: at_least, or at_most for a loss");
  if (!goal || at_least == at_most) return;
  if (goal->better == Better::lower && at_least)
    problems.add_key("/target/at_least",
                     fmt::format("{} falls as training goes on, so at_least would be reached at once; "
                                 "use at_most",
                                 goal->key));
  if (goal->better == Better::higher && at_most)
    problems.add_key("/target/at_most",
                     fmt::format("{} rises as training goes on, so at_most would be reached at once; use "
                                 "at_least",
                                 goal->key));
}

// `metric` must be one that podium-worker reports of this family, and will report in this job.
void check_reported(const Facts& facts, const std::string& metric, Problems& problems) {
  const auto family = facts.text("/model/family");
  std::vector<std::string> names;
  for (const Metric& goal : kGoals)
    if (!family || goal.family[0] == '\0' || *family == goal.family) names.emplace_back(goal.key);
  if (std::find(names.begin(), names.end(), metric) == names.end()) {
    const auto near = closest(metric, names);
    problems.add("/target/metric", fmt::format("podium-worker has no metric \"{}\" to aim at{}; {}", metric,
                                               family ? " with " + *family : "",
                                               near ? "did you mean \"" + *near + "\"?"
                                                    : fmt::format("it has {}", fmt::join(names, ", "))));
  } else if (metric.starts_with("eval/") && facts.steps("/evaluate/every") == 0 &&
             !facts.has("/evaluate/data")) {
    problems.add("/target/metric",
                 fmt::format("{} is only measured by evaluation; add \"evaluate: {{every: 100 steps, data: "
                             "heldout.txt}}\"",
                             metric));
  }
}

}  // namespace

void check_target(const Facts& facts, Problems& problems) {
  if (!facts.has("/target") || !facts.all()["target"].is_object()) return;
  const auto metric = facts.text("/target/metric");
  const auto goal = metric ? std::find_if(std::begin(kGoals), std::end(kGoals),
                                          [&](const Metric& m) { return *metric == m.key; })
                           : std::end(kGoals);
  check_bounds(facts, goal == std::end(kGoals) ? nullptr : &*goal, problems);
  if (!metric) return;
  if (!facts.has("/command"))
    check_reported(facts, *metric, problems);
  else if (!is_plausible(*metric))
    problems.add("/target/metric",
                 fmt::format("target.metric must be a metric's name such as eval/loss, not \"{}\"", *metric));
}

}  // namespace podium
