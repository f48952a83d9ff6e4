#include "coordinator/core/plan.h"

#include <algorithm>

#include "coordinator/core/draft.h"

namespace podium {
namespace {

std::optional<Time> next_wake(const ClusterState& state, Time now) {
  std::optional<Time> wake;
  const auto earlier = [&wake](Time time) { wake = wake ? std::min(*wake, time) : time; };
  const auto timer = state.timers.upper_bound({now, JobId{INT64_MAX}});
  if (timer != state.timers.end()) earlier(timer->first);
  for (const auto& [id, node] : state.nodes) {
    if (node.state == NodeState::up) earlier(node.last_seen + state.limits.unknown_after);
    if (node.state == NodeState::unknown) earlier(node.last_seen + state.limits.lost_after);
  }
  return wake;
}

}  // namespace

Plan make_plan(const ClusterState& state, const Policy& policy, Time now) {
  Plan plan;
  policy.schedule(state, now, plan);
  plan.wake_at = next_wake(state, now);
  return plan;
}

Events enact(const ClusterState& state, const Plan& plan, Time now) {
  Events events;
  for (const Start& start : plan.start) {
    JobDraft draft(state.jobs.at(start.job), events, now);
    draft.emit(AttemptCreated{{start.job, draft.job().attempts + 1}, start.allocation});
    draft.change_state(JobState::starting, "");
  }
  for (const Preemption& preemption : plan.preempt)
    JobDraft(state.jobs.at(preemption.job), events, now).stop(StopCause::preempted, preemption.reason);
  return events;
}

std::string waiting_reason(const ClusterState& state, const Plan& plan, JobId id, Time now) {
  const Job* job = find_job(state, id);
  if (!job || job->state != JobState::queued) return "";
  if (const auto own = plan.blocked.find(id); own != plan.blocked.end()) return own->second;
  for (const QueueKey& key : state.queues.at(job->request.kind)) {
    const auto ahead = plan.blocked.find(key.job);
    const Job& other = state.jobs.at(key.job);
    if (ahead == plan.blocked.end() || (other.not_before && *other.not_before > now)) continue;
    return "waits behind job " + to_string(key.job) + ", which " + ahead->second;
  }
  return "waits for the scheduler's next look";
}

}  // namespace podium
