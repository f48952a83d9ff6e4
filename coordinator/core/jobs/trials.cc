#include "coordinator/core/jobs/trials.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "coordinator/core/events/apply_job.h"
#include "coordinator/core/jobs/draft.h"

namespace podium {
namespace {

using Sweep = std::map<ExperimentId, Halving>::const_iterator;

// This includes trials that are over: their earlier reports still count.
Sweep find_sweep(const ClusterState& state, JobId job) {
  return std::ranges::find_if(state.sweeps,
                              [job](const auto& entry) { return entry.second.trials.contains(job); });
}

std::set<ExperimentId> sweeps_in(const ClusterState& state, const Events& events) {
  std::set<ExperimentId> sweeps;
  const auto add = [&](ExperimentId experiment) {
    if (state.sweeps.contains(experiment)) sweeps.insert(experiment);
  };
  for (const Event& event : events) {
    if (std::holds_alternative<Ticked>(event.body))
      for (const auto& [id, halving] : state.sweeps) sweeps.insert(id);
    if (const auto* reached = std::get_if<RungReached>(&event.body)) sweeps.insert(reached->experiment);
    if (const auto* recalled = std::get_if<JobRecalled>(&event.body)) add(recalled->experiment);
    const auto* changed = std::get_if<JobStateChanged>(&event.body);
    const Job* job = changed ? find_job(state, changed->job) : nullptr;
    if (job) add(job->experiment);
  }
  return sweeps;
}

// A sweep's decisions on the state after `events`.
class Settling {
 public:
  Settling(const ClusterState& state, ExperimentId sweep, Events& events, Time now)
      : state_(state), halving_(state.sweeps.at(sweep)), events_(events), now_(now) {
    catch_up();
  }

  void run() {
    decide();
    while (all_wait()) {
      const auto last = last_call(halving_);
      if (!last) return stop_all();
      promote(*last, "no trial is left that may tell more: ");
      decide();  // it may have told at its next rung before it was stopped
    }
  }

 private:
  void catch_up() {
    for (; followed_ < events_.size(); ++followed_) {
      const Event& event = events_[followed_];
      apply_to_sweep(halving_, event);
      const auto job = job_of(event);
      if (job && !std::holds_alternative<RungReached>(event.body)) events_of_[*job].push_back(followed_);
    }
  }

  // The job after the events so far.
  Job job_now(JobId id) const {
    const Job* lives = find_job(state_, id);
    Job job = lives ? *lives : Job{};
    const auto changes = events_of_.find(id);
    if (changes == events_of_.end()) return job;
    for (const std::size_t change : changes->second) {
      const Event& event = events_[change];
      if (const auto* recalled = std::get_if<JobRecalled>(&event.body))
        job = recalled_job(*recalled, event.at);
      else
        apply_to_job(job, event);
    }
    return job;
  }

  JobDraft draft(JobId id) const { return JobDraft(job_now(id), events_, now_); }

  void decide() {
    while (const auto decision = next_decision(halving_)) carry_out(*decision);
  }

  void carry_out(const Decision& decision) {
    if (decision.promotes) return promote(decision, "");
    JobDraft job = draft(decision.job);
    const std::string reason = standing(halving_, decision.job, decision.rung);
    job.emit(TrialPaused{decision.job, decision.rung, reason});
    if (job.job().attempt) job.stop(StopCause::paused, "paused by its sweep: " + reason);
    catch_up();
  }

  void promote(const Decision& decision, const std::string& because) {
    draft(decision.job)
        .emit(TrialPromoted{decision.job, decision.rung,
                            because + standing(halving_, decision.job, decision.rung)});
    catch_up();
  }

  void stop_all() {
    for (const auto& [id, trial] : halving_.trials)
      if (!trial.over)
        draft(id).change_state(JobState::stopped,
                               "stopped by its sweep: " + standing(halving_, id, trial.rung));
    catch_up();
  }

  // Whether no trial trains, or may train without a promotion. A held trial may: its node knows a later
  // attempt, or an operator has not decided yet.
  bool all_wait() const {
    return std::ranges::all_of(halving_.trials, [this](const auto& entry) {
      return entry.second.over || (entry.second.paused && waits(entry.first));
    });
  }

  bool waits(JobId id) const {
    const auto in_line = [](const Job& job) { return job.state == JobState::queued && !job.held; };
    return events_of_.contains(id) ? in_line(job_now(id)) : in_line(state_.jobs.at(id));
  }

  const ClusterState& state_;
  Halving halving_;
  Events& events_;
  Time now_;
  std::size_t followed_ = 0;
  std::map<JobId, std::vector<std::size_t>> events_of_;  // by their place in events_
};

}  // namespace

Result<Events> take_rung(const ClusterState& state, const RungTold& told, Time now) {
  const Sweep sweep = find_sweep(state, told.job);
  if (sweep == state.sweeps.end()) return Events{};
  const Halving& halving = sweep->second;
  const std::vector<std::int64_t> steps = rung_steps(halving.rule);
  const bool known = told.rung >= 1 && told.rung <= std::ssize(steps);
  if (!known || told.step < steps[static_cast<std::size_t>(told.rung) - 1] ||
      halving.trials.at(told.job).reports.contains(told.rung))
    return Events{};
  const auto value = std::isfinite(told.value) ? std::optional(told.value) : std::nullopt;
  return Events{{now, RungReached{sweep->first, told.job, told.rung, {told.step, value}}}};
}

void settle_sweeps(const ClusterState& state, Events& events, Time now) {
  if (state.sweeps.empty()) return;
  for (const ExperimentId sweep : sweeps_in(state, events)) Settling(state, sweep, events, now).run();
}

const Halving* sweep_of(const ClusterState& state, const Job& job) {
  const auto sweep = state.sweeps.find(job.experiment);
  return sweep != state.sweeps.end() && sweep->second.trials.contains(job.id) ? &sweep->second : nullptr;
}

std::string why_paused(const ClusterState& state, const Job& job) {
  const Halving& halving = *sweep_of(state, job);
  const int rung = halving.trials.at(job.id).rung;
  const std::size_t silent = yet_to_tell(halving, rung);
  std::string text = "is paused by its sweep: " + standing(halving, job.id, rung);
  if (silent == 0) return text;
  return text + "; " + std::to_string(silent) + (silent == 1 ? " trial has" : " trials have") +
         " yet to tell there";
}

RungWatch rungs_to_watch(const ClusterState& state, JobId job) {
  RungWatch watch;
  const Sweep sweep = find_sweep(state, job);
  if (sweep == state.sweeps.end()) return watch;
  watch.metric = sweep->second.rule.metric;
  const std::vector<std::int64_t> steps = rung_steps(sweep->second.rule);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const int rung = static_cast<int>(i) + 1; !sweep->second.trials.at(job).reports.contains(rung))
      watch.steps[rung] = steps[i];
  return watch;
}

}  // namespace podium
