#include "coordinator/core/plan/plan.h"

#include "coordinator/core/jobs/draft.h"
#include "coordinator/core/plan/pass.h"
#include "coordinator/core/policies/policy.h"

namespace podium {
namespace {

constexpr Duration kLeavingTakes = std::chrono::minutes(1);

}  // namespace

Plan make_plan(const ClusterState& state, Time now) {
  Plan plan;
  plan.epoch = state.epoch;
  if (awaits_reports(state)) return plan;
  Granted granted;
  for (const auto& [kind, queue] : state.indexes.queues) Pass(state, kind, now, plan, granted).run();
  for (const auto& [kind, jobs] : state.indexes.elastic)
    if (!state.indexes.queues.contains(kind)) Pass(state, kind, now, plan, granted).run();
  if (plan.blocked.empty()) return plan;
  // A reservation whose time has come moves later while other jobs are still leaving, and may collide with
  // the next.
  for (const Reservation& reserved : plan.reservations)
    plan.stale_by(reserved.at > now ? reserved.at : now + kLeavingTakes);
  if (const auto end = next_window_end(state)) plan.stale_by(*end);
  if (const auto interval = policy_of(state.scheduling.policy).interval()) plan.stale_by(now + *interval);
  return plan;
}

Events enact(const ClusterState& state, const Plan& plan, Time now) {
  Events events;
  for (const Start& start : plan.start) {
    JobDraft draft(state.jobs.at(start.job), events, now);
    draft.emit(AttemptCreated{{start.job, draft.job().newest_attempt() + 1}, start.allocation});
    draft.change_state(JobState::starting, "");
  }
  for (const Preemption& preemption : plan.preempt)
    JobDraft(state.jobs.at(preemption.job), events, now).stop(StopCause::preempted, preemption.reason);
  for (const Resizing& resizing : plan.resize) {
    JobDraft draft(state.jobs.at(resizing.job), events, now);
    draft.emit(ResizePlanned{draft.job().attempt_id(), resizing.resize});
    draft.stop(StopCause::resized,
               (resizing.resize.grows() ? "grows " : "shrinks ") + describe(resizing.resize));
  }
  return events;
}

}  // namespace podium
