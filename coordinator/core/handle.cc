#include "coordinator/core/handle.h"

#include "common/base/check.h"
#include "common/base/units.h"
#include "common/model/sizes.h"
#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/jobs/draft.h"
#include "coordinator/core/jobs/job_operations.h"
#include "coordinator/core/jobs/replicas.h"
#include "coordinator/core/jobs/trials.h"
#include "coordinator/core/nodes/deadlines.h"
#include "coordinator/core/nodes/leaving.h"
#include "coordinator/core/nodes/node_operations.h"
#include "coordinator/core/nodes/report.h"
#include "coordinator/core/nodes/restored.h"
#include "coordinator/core/nodes/suspicion.h"

namespace podium {
namespace {

Result<Events> note_checkpoint(const ClusterState& state, const CheckpointSaved& command, Time now) {
  const Job* job = find_job(state, command.attempt.job);
  if (!job || command.step <= job->checkpoint) return Events{};
  return Events{{now, CheckpointNoted{command.attempt, command.step}}};
}

void lose_tasks(const NodeId& id, const Node& node, const std::string& reason, Drafts& drafts) {
  for (const JobId holder : holders_of(node)) {
    JobDraft& draft = drafts.of(holder);
    for (std::size_t rank = 0; rank < draft.job().attempt->tasks.size(); ++rank)
      if (draft.job().attempt->allocation.ranks[rank].node == id && !draft.job().attempt->tasks[rank].over())
        draft.emit(TaskLost{draft.task(static_cast<int>(rank)), reason});
  }
}

void judge_silence(const ClusterState& state, Time now, Events& events, Drafts& drafts) {
  for (const auto& [last_seen, id] : state.indexes.last_seen) {
    const Duration silence = now - last_seen;
    if (silence < state.limits.unknown_after) return;
    const Node& node = state.nodes.at(id);
    const std::string reason = "no word from the agent of " + id.value + " for " +
                               format_duration(std::chrono::floor<std::chrono::seconds>(silence));
    if (node.state == NodeState::up)
      events.push_back({now, NodeStateChanged{id, NodeState::up, NodeState::unknown, reason}});
    if (node.state != NodeState::unknown || silence < state.limits.lost_after) continue;
    events.push_back({now, NodeStateChanged{id, NodeState::unknown, NodeState::lost, reason}});
    lose_tasks(id, node, reason, drafts);
  }
}

void run_timer(Time now, JobDraft& draft) {
  const Job& job = draft.job();
  if (!job.attempt) return;  // a back-off: the next plan sees that it is over
  if (last_call(job) > now) return;
  const Duration left = job.attempt->created + job.request.walltime - now;
  draft.stop(StopCause::walltime,
             left > Duration{} ? "its walltime is over in " + format_duration(left) : "its walltime is over");
}

// A coordinator that was stopped heard no node: its nodes get a fresh start instead of being declared lost.
bool was_away(const ClusterState& state, Time now) { return now - state.clock > state.limits.longest_pause; }

Result<Events> tick(const ClusterState& state, Time now) {
  Events events;
  const bool away = was_away(state, now);
  if (away) {
    const std::string time = format_duration(std::chrono::floor<std::chrono::seconds>(now - state.clock));
    events.push_back({now, SilenceForgiven{"the coordinator was stopped for " + time}});
  }
  Drafts drafts(state, events, now);
  if (!away) judge_silence(state, now, events, drafts);
  for (auto timer = state.indexes.timers.begin(); timer != state.indexes.timers.end() && timer->first <= now;
       ++timer)
    run_timer(now, drafts.of(timer->second));
  if (!away) keep_deadlines(state, now, events, drafts);
  drafts.settle_all();
  end_windows(state, now, events);
  drain_lemons(state, now, events);
  events.push_back({now, Ticked{}});
  return events;
}

struct Handler {
  const ClusterState& state;
  Time now;

  Result<Events> operator()(const SubmitExperiment& c) const { return submit(state, c, now); }
  Result<Events> operator()(const TrackRun& c) const { return track(state, c, now); }
  Result<Events> operator()(const CancelJob& c) const { return cancel(state, c.job, now); }
  Result<Events> operator()(const HoldJob& c) const { return hold(state, c.job, now); }
  Result<Events> operator()(const ReleaseJob& c) const { return release(state, c.job, now); }
  Result<Events> operator()(const PrioritiseJob& c) const { return prioritise(state, c, now); }
  Result<Events> operator()(const RequeueJob& c) const { return requeue(state, c, now); }
  Result<Events> operator()(const ExtendJob& c) const { return extend(state, c, now); }
  Result<Events> operator()(const DrainNode& c) const { return drain_node(state, c, now); }
  Result<Events> operator()(const ResumeNode& c) const { return resume_node(state, c, now); }
  Result<Events> operator()(const ReserveNode& c) const { return reserve_node(state, c, now); }
  Result<Events> operator()(const UnreserveNode& c) const { return unreserve_node(state, c, now); }
  Result<Events> operator()(const LabelNode& c) const { return label_node(state, c, now); }
  Result<Events> operator()(const AdoptNode& c) const { return adopt_node(state, c, now); }
  Result<Events> operator()(const RemoveNode& c) const { return remove_node(state, c, now); }
  Result<Events> operator()(const ChangeAccount& c) const { return change_account(state, c, now); }
  Result<Events> operator()(const DeleteAccount& c) const { return delete_account(state, c.account, now); }
  Result<Events> operator()(const NodeReported& c) const { return take_report(state, c.report, now); }
  Result<Events> operator()(const CheckpointSaved& c) const { return note_checkpoint(state, c, now); }
  Result<Events> operator()(const RungTold& c) const { return take_rung(state, c, now); }
  Result<Events> operator()(const PauseReplica& c) const { return pause_replica(state, c, now); }
  Result<Events> operator()(const PromoteReplica& c) const { return promote_replica(state, c, now); }
  Result<Events> operator()(const Tick&) const { return tick(state, now); }
  Result<Events> operator()(const CoordinatorUp& c) const {
    Events events{{now, SilenceForgiven{"the coordinator started", true}}};
    if (was_lost(state, c.highest)) events.push_back({now, JobNumbersSkipped{{c.highest.value + 1}}});
    return events;
  }
};

}  // namespace

Result<Events> handle(const ClusterState& state, const Command& command, Time now) {
  Result<Events> decided = std::visit(Handler{state, now}, command);
  if (!decided) return decided;
  Events events = std::move(decided).value();
  settle_sweeps(state, events, now);
  settle_dependents(state, events, now);
  return events;
}

std::optional<Time> next_tick(const ClusterState& state, Time now) {
  std::optional<Time> next = next_window_end(state);
  const auto earlier = [&next](Time time) { next = next ? std::min(*next, time) : time; };
  const auto timer = state.indexes.timers.upper_bound({now, JobId{INT64_MAX}});
  if (timer != state.indexes.timers.end()) earlier(timer->first);
  const auto deadline = state.indexes.deadlines.upper_bound({now, JobId{INT64_MAX}});
  if (deadline != state.indexes.deadlines.end()) earlier(deadline->first);
  if (state.listens_until) earlier(*state.listens_until);
  const auto silent = [&](const auto& seen, Duration for_long) {
    if (seen != state.indexes.last_seen.end()) earlier(seen->first + for_long);
  };
  // Nodes ascend by the time of their last report: first unknown nodes, then nodes that are up.
  silent(state.indexes.last_seen.begin(), state.limits.lost_after);
  silent(state.indexes.last_seen.upper_bound({now - state.limits.unknown_after, NodeId{}}),
         state.limits.unknown_after);
  return next;
}

JobRequest job_request(const JobSpec& spec) {
  JobRequest request;
  request.name = spec.name;
  request.devices = spec.resources.devices;
  request.per_node = spec.resources.per_node;
  request.kind = spec.resources.kind;
  request.nodes = spec.resources.nodes;
  request.within = spec.resources.within;
  request.tensor = spec.parallel.tensor;
  request.pipeline = spec.parallel.pipeline;
  request.walltime = spec.resources.walltime;
  request.priority = spec.priority;
  request.max_restarts = spec.max_restarts;
  request.command = !spec.command.empty();
  request.after = spec.after;
  request.account = spec.account;
  const bool saves_best = !spec.checkpoint.best.empty() && spec.evaluate.every > 0;
  request.saves = spec.trains() && (spec.checkpoint.every > 0 || saves_best);
  request.resume = spec.resume;
  if (spec.model.init_job) request.init = spec.model.init_job->job;
  request.grace = spec.stop.grace;
  request.before_walltime = spec.stop.before_walltime;
  request.process_per_node = spec.processes == Processes::node;
  if (spec.serve) {
    const ReplicasSpec& replicas = spec.serve->replicas;
    request.replica = {spec.name, replicas.min, replicas.max, replicas.queue};
  }
  if (spec.resources.max_devices == 0) return request;
  request.sizes = permitted_sizes(size_rules(spec));
  PODIUM_CHECK(!request.sizes.empty(), "a spec that was not refused permits a number of devices");
  request.devices = request.sizes.front();
  if (request.sizes.size() == 1) request.sizes.clear();
  return request;
}

}  // namespace podium
