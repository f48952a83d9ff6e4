#include "coordinator/core/sweeps/halving.h"

#include <algorithm>
#include <charconv>

#include "common/base/check.h"

namespace podium {
namespace {

int rungs_of(const Halving& halving) { return static_cast<int>(rung_steps(halving.rule).size()); }

const RungReport& report_of(const Halving& halving, JobId job, int rung) {
  return halving.trials.at(job).reports.at(rung);
}

bool may_go_on(const Halving& halving, JobId job, int rung) {
  const Trial& trial = halving.trials.at(job);
  return !trial.over && trial.rung == rung && report_of(halving, job, rung).value;
}

std::string ordinal(std::size_t n) {
  const bool teen = n % 100 >= 11 && n % 100 <= 13;
  const char* ending = teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  return std::to_string(n) + ending;
}

}  // namespace

std::string metric_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 5);
  PODIUM_CHECK(error == std::errc{}, "five digits fit");
  return {text, end};
}

std::vector<JobId> ranking(const Halving& halving, int rung) {
  std::vector<JobId> jobs;
  for (const auto& [job, trial] : halving.trials)
    if (trial.rung >= rung && trial.reports.contains(rung)) jobs.push_back(job);
  std::ranges::stable_sort(jobs, [&](JobId a, JobId b) {
    const auto &of_a = report_of(halving, a, rung).value, &of_b = report_of(halving, b, rung).value;
    if (!of_a || !of_b) return of_a && !of_b;
    return halving.rule.better(*of_a, *of_b);
  });
  return jobs;
}

std::size_t places(const Halving& halving, int rung) {
  return ranking(halving, rung).size() / static_cast<std::size_t>(halving.rule.reduction);
}

std::optional<Decision> next_decision(const Halving& halving) {
  for (int rung = rungs_of(halving); rung >= 1; --rung) {
    const std::vector<JobId> best = ranking(halving, rung);
    const std::size_t go_on = best.size() / static_cast<std::size_t>(halving.rule.reduction);
    for (std::size_t i = 0; i < go_on; ++i)
      if (may_go_on(halving, best[i], rung)) return Decision{best[i], rung, true};
  }
  for (const auto& [job, trial] : halving.trials)
    if (!trial.over && !trial.paused && trial.reports.contains(trial.rung))
      return Decision{job, trial.rung, false};
  return std::nullopt;
}

std::optional<Decision> last_call(const Halving& halving) {
  if (std::ranges::any_of(halving.trials, [](const auto& entry) { return entry.second.succeeded; }))
    return std::nullopt;
  for (int rung = rungs_of(halving); rung >= 1; --rung)
    for (const JobId job : ranking(halving, rung))
      if (may_go_on(halving, job, rung)) return Decision{job, rung, true};
  return std::nullopt;
}

std::string standing(const Halving& halving, JobId job, int rung) {
  const std::vector<JobId> best = ranking(halving, rung);
  const auto found = std::ranges::find(best, job);
  PODIUM_CHECK(found != best.end(), "only a trial that has told at a rung stands somewhere there");
  const RungReport& report = report_of(halving, job, rung);
  const std::string at = " at rung " + std::to_string(rung) + " (step " + std::to_string(report.step) + ")";
  const std::string& metric = halving.rule.metric;
  if (!report.value) return "its " + metric + at + " is not a number";
  const std::size_t go_on = places(halving, rung);
  return ordinal(static_cast<std::size_t>(found - best.begin()) + 1) + " of " + std::to_string(best.size()) +
         at + " with " + metric + " " + metric_text(*report.value) +
         (go_on == 0
              ? ", of which the best goes on once " + std::to_string(halving.rule.reduction) + " have told"
          : go_on == 1 ? ", of which the best goes on"
                       : ", of which the best " + std::to_string(go_on) + " go on");
}

}  // namespace podium
