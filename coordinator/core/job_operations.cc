#include "coordinator/core/job_operations.h"

#include <algorithm>

#include "coordinator/core/draft.h"
#include "coordinator/core/placement.h"

namespace podium {
namespace {

constexpr int kHighestPriority = 100;

std::string name_of(JobId job) { return "job " + to_string(job); }

// Nothing when the job lives.
std::optional<Error> not_alive(const ClusterState& state, JobId id) {
  if (find_job(state, id)) return std::nullopt;
  if (id.value > 0 && id < state.next_job)
    return Error{ErrorCode::conflict, name_of(id) + " has already ended", ""};
  return Error{ErrorCode::not_found, "there is no " + name_of(id), ""};
}

bool satisfies(JobState end, When when) { return when == When::any || end == JobState::succeeded; }

std::string unmet(JobId on, JobState end) {
  return name_of(on) + ", which it was to follow, " +
         (end == JobState::cancelled ? "was cancelled" : "failed");
}

// No limit allows what the job asks for, even were it the only one.
std::optional<Error> over_every_limit(const ClusterState& state, const JobRequest& request) {
  for (const std::string& account : lineage(request.account)) {
    const auto& limits = rules_of(state, account).limit;
    const auto limit = limits.find(request.kind);
    if (limit == limits.end() || request.devices <= limit->second) continue;
    return Error{ErrorCode::invalid,
                 "job \"" + request.name + "\" asks for " + std::to_string(request.devices) + " " +
                     request.kind + " devices; account " + account + " may hold at most " +
                     std::to_string(limit->second),
                 "/account"};
  }
  return std::nullopt;
}

// Leaves the jobs that still have to end; the others are settled by how they ended.
void resolve_after(const ClusterState& state, const SubmitExperiment& command, JobRequest& request,
                   Errors& errors) {
  std::vector<Dependency> open;
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    errors.push_back({code, "job \"" + request.name + "\" cannot wait: " + why, "/after"});
  };
  for (const Dependency& on : request.after) {
    const auto ended = command.ended.find(on.job);
    if (find_job(state, on.job))
      open.push_back(on);
    else if (on.job.value < 1 || on.job >= state.next_job)
      refuse(ErrorCode::invalid, "there is no " + name_of(on.job));
    else if (ended == command.ended.end())
      refuse(ErrorCode::conflict, name_of(on.job) + " has just ended; submit it again");
    else if (!satisfies(ended->second, on.when))
      refuse(ErrorCode::invalid,
             unmet(on.job, ended->second) + "; write \"when: any\" to start nevertheless");
  }
  request.after = std::move(open);
}

void settle_dependent(JobDraft& draft, JobId ended, JobState end) {
  if (draft.job().state != JobState::queued) return;  // another it waited for has failed
  const bool met = std::ranges::none_of(draft.job().request.after, [&](const Dependency& on) {
    return on.job == ended && !satisfies(end, on.when);  // one job may be named twice
  });
  if (met)
    draft.emit(DependencyMet{draft.job().id, ended});
  else
    draft.change_state(JobState::cancelled, unmet(ended, end));
}

}  // namespace

Result<Events> submit(const ClusterState& state, const SubmitExperiment& command, Time now) {
  if (command.jobs.empty()) return Error{ErrorCode::invalid, "an experiment needs at least one job", ""};
  Errors errors;
  Events events{{now, ExperimentCreated{state.next_experiment, command.name}}};
  JobId job = state.next_job;
  for (JobRequest request : command.jobs) {
    if (auto reason = never_fits(state, request))
      errors.push_back({ErrorCode::invalid, "job \"" + request.name + "\" " + *reason, "/resources"});
    if (const auto bad = bad_account_name(request.account))
      errors.push_back({ErrorCode::invalid, *bad, "/account"});
    else if (auto over = over_every_limit(state, request))
      errors.push_back(std::move(*over));
    resolve_after(state, command, request, errors);
    events.push_back({now, JobQueued{job, state.next_experiment, std::move(request)}});
    ++job.value;
  }
  if (!errors.empty()) return errors;
  return events;
}

Result<Events> cancel(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  Events events;
  JobDraft draft(state.jobs.at(id), events, now);
  if (draft.job().attempt)
    draft.stop(StopCause::cancelled, "cancelled");
  else
    draft.change_state(JobState::cancelled, "cancelled");
  return events;
}

Result<Events> hold(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  if (state.jobs.at(id).held) return Events{};
  return Events{{now, JobHeld{id}}};
}

Result<Events> release(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  if (!state.jobs.at(id).held) return Events{};
  return Events{{now, JobReleased{id}}};
}

Result<Events> prioritise(const ClusterState& state, const PrioritiseJob& command, Time now) {
  if (auto error = not_alive(state, command.job)) return std::move(*error);
  if (command.priority < 0 || command.priority > kHighestPriority)
    return Error{ErrorCode::invalid, "a priority must be between 0 and " + std::to_string(kHighestPriority),
                 "/priority"};
  if (state.jobs.at(command.job).request.priority == command.priority) return Events{};
  return Events{{now, JobPrioritised{command.job, command.priority}}};
}

Result<Events> requeue(const ClusterState& state, JobId id, Time now) {
  if (auto error = not_alive(state, id)) return std::move(*error);
  const Job& job = state.jobs.at(id);
  Events events;
  if (!job.attempt) {
    RetryCounts retries = job.retries;
    retries.quick = 0;
    if (job.not_before || !job.avoid.empty()) events.push_back({now, RetryPlanned{id, retries, {}, {}}});
    return events;
  }
  const StopCause stop = job.attempt->stop;
  if (stop == StopCause::cancelled || stop == StopCause::walltime)
    return Error{ErrorCode::conflict, name_of(id) + " is being stopped for good", ""};
  JobDraft(job, events, now).stop(StopCause::requeued, "requeued");
  return events;
}

void settle_dependents(const ClusterState& state, Events& events, Time now) {
  if (state.dependents.empty()) return;
  Drafts drafts(state, events, now);
  for (std::size_t i = 0; i < events.size(); ++i) {  // grows: a dependent that is cancelled ends as well
    const auto* changed = std::get_if<JobStateChanged>(&events[i].body);
    if (!changed || !is_terminal(changed->to)) continue;
    const JobId ended = changed->job;
    const JobState end = changed->to;
    auto next = state.dependents.lower_bound({ended, JobId{0}});
    for (; next != state.dependents.end() && next->first == ended; ++next)
      settle_dependent(drafts.of(next->second), ended, end);
  }
}

}  // namespace podium
