#include "coordinator/core/plan/wait_log.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/state/state.h"

namespace podium {
namespace {

// Whether the event may change at once what a job waits for.
bool is_telling(const Event& event) {
  return std::holds_alternative<JobQueued>(event.body) ||
         std::holds_alternative<JobStateChanged>(event.body) || std::holds_alternative<JobHeld>(event.body) ||
         std::holds_alternative<JobReleased>(event.body) ||
         std::holds_alternative<DependencyMet>(event.body) ||
         std::holds_alternative<TrialPaused>(event.body) ||
         std::holds_alternative<TrialPromoted>(event.body) ||
         std::holds_alternative<ReplicaPaused>(event.body) ||
         std::holds_alternative<ReplicaPromoted>(event.body);
}

bool begins_wait(const Event& event) {
  const auto* changed = std::get_if<JobStateChanged>(&event.body);
  return std::holds_alternative<JobQueued>(event.body) || (changed && changed->to == JobState::queued);
}

}  // namespace

BlockerCode waits_for(const ClusterState& state, const Plan& plan, const Job& job, Time now) {
  if (job.held) return BlockerCode::held;
  if (job.paused) return BlockerCode::paused;
  if (!job.request.after.empty()) return BlockerCode::follows;
  if (job.not_before && *job.not_before > now) return BlockerCode::back_off;
  if (awaits_reports(state)) return BlockerCode::planning;
  const auto own = plan.blocked.find(job.id);
  return own == plan.blocked.end() ? BlockerCode::queue : own->second.code;
}

std::vector<WaitMark> WaitLog::look(const ClusterState& state, const Plan& plan, bool planned,
                                    const Events& events, Time now) {
  marks_.clear();
  for (const JobId id : touched(state, events, now)) {
    pending_.erase(id);
    const Job* job = find_job(state, id);
    if (!job || job->state != JobState::queued) {
      told_.erase(id);
      continue;
    }
    const BlockerCode code = waits_for(state, plan, *job, now);
    if (code == BlockerCode::back_off) backing_off_.insert(id);
    tell({id, now, std::string(to_string(code))});
  }
  if (awaits_reports(state))
    looked_ = false;
  else if (planned)
    follow(state, plan, now);
  tell_what_stood(state, now);
  return std::exchange(marks_, {});
}

// Jobs for which an event, or the end of a back-off, may change at once what they wait for.
std::set<JobId> WaitLog::touched(const ClusterState& state, const Events& events, Time now) {
  std::set<JobId> jobs;
  for (const Event& event : events) {
    const auto job = job_of(event);
    if (!job || !is_telling(event)) continue;
    if (begins_wait(event)) told_.erase(*job);
    jobs.insert(*job);
  }
  std::erase_if(backing_off_, [&](JobId id) {
    const Job* job = find_job(state, id);
    if (job && job->not_before && *job->not_before > now) return false;
    jobs.insert(id);
    return true;
  });
  return jobs;
}

// Jobs that this plan or the previous one tried; for the first plan all waiting jobs.
void WaitLog::follow(const ClusterState& state, const Plan& plan, Time now) {
  std::set<JobId> blocked;
  for (const auto& [id, why] : plan.blocked) blocked.insert(id);
  if (std::exchange(looked_, true)) {
    for (const JobId id : tried_) note(state, plan, id, now);
    for (const JobId id : blocked) note(state, plan, id, now);
  } else {
    for (const auto& [id, code] : told_) note(state, plan, id, now);
  }
  tried_ = std::move(blocked);
}

void WaitLog::tell_what_stood(const ClusterState& state, Time now) {
  std::erase_if(pending_, [&](const auto& entry) {
    const auto& [id, pending] = entry;
    const Duration waited = now - state.jobs.at(id).submitted;
    if (now - pending.since < std::max(kStands, waited / kPartOfWait)) return false;
    tell({id, pending.since, pending.code});
    return true;
  });
}

void WaitLog::tell(const WaitMark& mark) {
  std::string& told = told_[mark.job];
  if (told == mark.code) return;
  told = mark.code;
  marks_.push_back(mark);
}

void WaitLog::note(const ClusterState& state, const Plan& plan, JobId id, Time now) {
  const auto told = told_.find(id);
  const Job* job = find_job(state, id);
  if (told == told_.end() || !job) return;
  const BlockerCode found = waits_for(state, plan, *job, now);
  if (found == BlockerCode::back_off) backing_off_.insert(id);
  const std::string code(to_string(found));
  const auto pending = pending_.find(id);
  if (code == told->second) {
    if (pending != pending_.end()) pending_.erase(pending);
  } else if (pending == pending_.end()) {
    pending_.insert({id, {code, now}});
  } else if (pending->second.code != code) {
    pending->second = {code, now};
  }
}

}  // namespace podium
