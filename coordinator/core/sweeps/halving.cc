#include "coordinator/core/sweeps/halving.h"

#include <algorithm>
#include <charconv>
#include <utility>

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

bool goes_before(const Halving& halving, int rung, JobId a, JobId b) {
  const auto &of_a = report_of(halving, a, rung).value, &of_b = report_of(halving, b, rung).value;
  if (of_a.has_value() != of_b.has_value()) return of_a.has_value();
  if (of_a && *of_a != *of_b) return halving.rule.better(*of_a, *of_b);
  return a < b;
}

// The position of a trial that has reported at a rung, or of one that is about to, in the ranking.
template <class Ranking>
auto place_of(const Halving& halving, Ranking& ranked, int rung, JobId job) {
  return std::ranges::lower_bound(ranked, job,
                                  [&](JobId a, JobId b) { return goes_before(halving, rung, a, b); });
}

void rank(Halving& halving, JobId job, int rung) {
  std::vector<JobId>& ranked = halving.told[rung];
  ranked.insert(place_of(halving, ranked, rung, job), job);
}

void count_in(Halving& halving, const Trial& trial) {
  halving.over += trial.over;
  halving.succeeded += trial.succeeded;
  if (!trial.over && !trial.paused) ++halving.training[trial.rung];
}

void count_out(Halving& halving, const Trial& trial) {
  halving.over -= trial.over;
  halving.succeeded -= trial.succeeded;
  if (trial.over || trial.paused) return;
  const auto there = halving.training.find(trial.rung);
  if (--there->second == 0) halving.training.erase(there);
}

template <class Change>
void change(Halving& halving, JobId job, const Change& change) {
  Trial& trial = halving.trials.at(job);
  count_out(halving, trial);
  change(trial);
  count_in(halving, trial);
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

void add_trial(Halving& halving, JobId job, Trial trial) {
  const Trial& added = halving.trials.insert_or_assign(job, std::move(trial)).first->second;
  count_in(halving, added);
  for (const auto& [rung, report] : added.reports)
    if (rung <= added.rung) rank(halving, job, rung);
}

void tell(Halving& halving, JobId job, int rung, const RungReport& report) {
  Trial& trial = halving.trials.at(job);
  if (trial.reports.emplace(rung, report).second && rung <= trial.rung) rank(halving, job, rung);
}

void pause(Halving& halving, JobId job) {
  change(halving, job, [](Trial& trial) { trial.paused = true; });
}

void promote(Halving& halving, JobId job) {
  change(halving, job, [](Trial& trial) {
    ++trial.rung;
    trial.paused = false;
  });
  const Trial& trial = halving.trials.at(job);
  if (trial.reports.contains(trial.rung)) rank(halving, job, trial.rung);
}

void change_state(Halving& halving, JobId job, bool over, bool succeeded) {
  change(halving, job, [&](Trial& trial) {
    trial.over = over;
    trial.succeeded = succeeded;
  });
}

void recall(Halving& halving, JobId job) {
  change(halving, job, [](Trial& trial) { trial.paused = false; });
}

const std::vector<JobId>& ranking(const Halving& halving, int rung) {
  static const std::vector<JobId> kNone;
  const auto told = halving.told.find(rung);
  return told == halving.told.end() ? kNone : told->second;
}

std::size_t places(const Halving& halving, int rung) {
  return ranking(halving, rung).size() / static_cast<std::size_t>(halving.rule.reduction);
}

std::optional<Decision> next_decision(const Halving& halving) {
  for (int rung = rungs_of(halving); rung >= 1; --rung) {
    const std::vector<JobId>& best = ranking(halving, rung);
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
  if (halving.succeeded > 0) return std::nullopt;
  for (int rung = rungs_of(halving); rung >= 1; --rung)
    for (const JobId job : ranking(halving, rung))
      if (may_go_on(halving, job, rung)) return Decision{job, rung, true};
  return std::nullopt;
}

std::size_t yet_to_tell(const Halving& halving, int rung) {
  std::size_t trials = 0;
  for (const auto& [at, count] : halving.training)
    if (at <= rung) trials += count;
  return trials;
}

std::string standing(const Halving& halving, JobId job, int rung) {
  const std::vector<JobId>& best = ranking(halving, rung);
  PODIUM_CHECK(halving.trials.at(job).reports.contains(rung) && halving.trials.at(job).rung >= rung,
               "only a trial that has told at a rung stands somewhere there");
  const auto found = place_of(halving, best, rung, job);
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
