#include "coordinator/core/nodes/report.h"

#include <algorithm>
#include <set>

#include "coordinator/core/jobs/draft.h"
#include "coordinator/core/nodes/leaving.h"
#include "coordinator/core/nodes/report_limits.h"
#include "coordinator/core/nodes/restored.h"

namespace podium {
namespace {

// A node belongs to one agent until it is lost: two agents with one name, or with a copy of one home, would
// take each other's tasks for their own.
Errors refuse_strangers(const ClusterState& state, const NodeDescription& from) {
  const Node* known = find_node(state, from.id);
  if (!known || known->state == NodeState::lost) return {};
  const std::string& name = from.id.value;
  if (!known->description.key.empty() && known->description.key != from.key)
    return {{ErrorCode::conflict,
             "node " + name + " belongs to another agent (at " + known->description.address + ", which is " +
                 std::string(to_string(known->state)) + "). Start this one with another --name; or, if it " +
                 "replaces that one, stop that one and wait: it is let in once `podium nodes` shows " + name +
                 " as lost",
             "/node/key"}};
  if (std::ranges::find(known->former_boots, from.boot) != known->former_boots.end())
    return {{ErrorCode::conflict,
             "an agent with the same key as this one has been started since as node " + name +
                 ": one home folder is a copy of the other. Stop this agent, delete `id` in its home folder, "
                 "and " +
                 "start it with another --name",
             "/node/boot"}};
  return {};
}

// A node that is gone counts until an operator drains it: its tasks may still be fenced through the folder
// that it shared.
bool is_gone(const Node& node) { return node.state == NodeState::lost && node.drain; }

// Fences are raised in the shared folder: a node with another folder would run tasks that they should stop.
Errors check_shared(const ClusterState& state, const NodeDescription& node) {
  if (!state.limits.shared || node.shared.empty()) return {};
  const Node* known = find_node(state, node.id);
  if (known && known->state != NodeState::lost && known->description.shared == node.shared)
    return {};  // as when it was let in
  for (const auto& [id, other] : state.nodes) {
    const std::string& shared = other.description.shared;
    if (id == node.id || shared.empty() || shared == node.shared || is_gone(other)) continue;
    return {{ErrorCode::conflict,
             "the shared folder of " + node.id.value + " is not that of " + id.value +
                 ": mount the same folder there and give it as --shared, or start the coordinator with "
                 "--nothing-shared; if " +
                 id.value + " is gone for good, podium nodes drain " + id.value,
             "/node/shared"}};
  }
  return {};
}

// Measures the node's clock, assuming that both directions take equally long. A slow exchange is imprecise,
// so an older, quicker measurement stays and is trusted a little less each time.
std::optional<ClockMeasure> measure_clock(const Node* known, const NodeReport& report, Time now) {
  const std::optional<ClockMeasure> before = known ? known->clock : std::nullopt;
  if (!report.clock) return std::nullopt;
  const ClockTelling& told = *report.clock;
  const Duration up = now - told.sent;  // and what the clock is behind
  if (told.answered == Time{}) return before ? before : ClockMeasure{-up, std::chrono::minutes(1)};
  const Duration down = told.heard - told.answered;  // and what the clock is ahead
  const ClockMeasure measured{(down - up) / 2, up + down};
  if (measured.round_trip < Duration{}) return before;  // a clock was set between the two
  if (!before || measured.round_trip <= before->round_trip + std::chrono::milliseconds(100)) return measured;
  return ClockMeasure{before->ahead, before->round_trip + std::chrono::milliseconds(100)};
}

void see_node(const ClusterState& state, const NodeReport& report, std::vector<TaskId> unknown, Time now,
              Events& events) {
  const NodeDescription& node = report.node;
  const Node* known = find_node(state, node.id);
  if (!known) {
    events.push_back({now, NodeJoined{node}});
    if (std::optional<Drain> end = end_of_loan(node)) events.push_back({now, NodeDrained{node.id, *end}});
  }
  if (known && known->description != node) events.push_back({now, NodeChanged{node}});
  const std::string stranger = is_foreign(state, report.cluster) ? report.cluster.id : "";
  events.push_back({now, NodeSeen{node.id, measure_clock(known, report, now), std::move(unknown), stranger}});
  if (!known) return;
  if (known->state != NodeState::up)
    events.push_back(
        {now, NodeStateChanged{node.id, known->state, NodeState::up, "its agent reports again"}});
}

// The core's task, if it belongs to a live attempt and to this node.
const Task* current_task(const ClusterState& state, const NodeId& node, TaskId id) {
  const Job* job = find_job(state, id.attempt.job);
  if (!job || !job->attempt || job->attempt->number != id.attempt.number) return nullptr;
  return find_task(*job->attempt, id.rank, node);
}

// When it failed is told by the node's clock. Ranks of different nodes are compared by it.
TaskExit in_cluster_time(TaskExit exit, const Node* node, Time now) {
  if (exit.failed_at == Time{}) return exit;
  const Duration ahead = node && node->clock ? node->clock->ahead : Duration{};
  exit.failed_at = std::clamp(exit.failed_at, Time{Duration{1}}, now + std::max(Duration{}, ahead)) - ahead;
  return exit;
}

void take_task(const TaskReport& report, const Task& known, const Node* node, Time now, Drafts& drafts) {
  const JobId job = report.task.attempt.job;
  if (known.missing_since) drafts.of(job).emit(TaskFound{report.task});
  if (report.state == TaskState::exited)
    drafts.of(job).emit(TaskExited{report.task, cut_exit(in_cluster_time(*report.exit, node, now))});
  else if (report.state == TaskState::running && known.phase == TaskPhase::ordered)
    drafts.of(job).emit(TaskStarted{report.task, report.pid});
  else if (!known.listed)
    drafts.of(job).emit(TaskListed{report.task});
}

// Handles a task that ran on this node and is not in its report. (A task that was only ordered may still be
// in transit, or wait for its device: deadlines.h.) The task is lost once reports without it have kept coming
// for Limits::missing_after; silence of the node restarts that time.
void miss_task(const ClusterState& state, const NodeReport& report, const Task& task, TaskId id, Time now,
               Drafts& drafts) {
  const NodeId& node = report.node.id;
  const bool was_silent = now - state.nodes.at(node).last_seen >= state.limits.unknown_after;
  if (task.missing_since && was_silent) {
    drafts.of(id.attempt.job).emit(TaskMissed{id});
  } else if (task.missing_since) {
    if (now - *task.missing_since >= state.limits.missing_after)
      drafts.of(id.attempt.job).emit(TaskLost{id, "the agent of " + node.value + " does not know it"});
  } else {
    drafts.of(id.attempt.job).emit(TaskMissed{id});
  }
}

// The tasks here that have not begun wait for their inputs, or no longer do.
void see_staging(const ClusterState& state, const NodeReport& report, Drafts& drafts) {
  const Node* node = find_node(state, report.node.id);
  if (!node) return;
  const std::set<TaskId> staging(report.staging.begin(), report.staging.end());
  for (const JobId id : holders_of(*node)) {
    if (report.staging.empty() && state.jobs.at(id).attempt->staging == 0) continue;
    const JobDraft& draft = drafts.of(id);
    if (!draft.job().attempt) continue;
    const Attempt attempt = *draft.job().attempt;
    for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank) {
      const Task& task = attempt.tasks[rank];
      const TaskId task_id = draft.task(static_cast<int>(rank));
      const bool stages = task.phase == TaskPhase::ordered && staging.contains(task_id);
      if (attempt.allocation.ranks[rank].node == report.node.id && !task.over() && stages != task.staging)
        drafts.of(id).emit(TaskStaging{task_id, !stages});
    }
  }
}

void miss_tasks(const ClusterState& state, const NodeReport& report, const std::set<TaskId>& listed,
                const std::set<TaskId>& gone, Time now, Drafts& drafts) {
  for (const TaskId task : gone) drafts.of(task.attempt.job).emit(TaskLost{task, why_gone(report.node.id)});
  const Node* node = find_node(state, report.node.id);
  if (!node) return;
  for (const JobId id : holders_of(*node)) {
    const Job& job = state.jobs.at(id);
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
      const Task& task = job.attempt->tasks[rank];
      const TaskId task_id{job.attempt_id(), static_cast<int>(rank)};
      const bool here = job.attempt->allocation.ranks[rank].node == report.node.id;
      if (here && task.phase == TaskPhase::running && !listed.contains(task_id) && !gone.contains(task_id))
        miss_task(state, report, task, task_id, now, drafts);
    }
  }
}

}  // namespace

Result<Events> take_report(const ClusterState& state, const NodeReport& report, Time now) {
  if (Errors errors = refuse_strangers(state, report.node); !errors.empty()) return errors;
  if (Errors errors = check_shared(state, report.node); !errors.empty()) return errors;
  Events events;
  const std::vector<TaskId> unknown = unknown_tasks(state, report);
  see_node(state, report, unknown, now, events);
  const std::set<TaskId> gone = gone_tasks(state, report);
  respect_the_future(state, report, gone, now, events);

  Drafts drafts(state, events, now);
  stop_what_has_not_begun(state, events, drafts);
  std::set<TaskId> listed;
  int strays = static_cast<int>(unknown.size());
  const bool foreign = is_foreign(state, report.cluster);
  for (const TaskReport& task : report.tasks) {
    if (foreign || gone.contains(task.task) || is_of_the_future(state, report.node, task.task) ||
        !listed.insert(task.task).second)
      continue;
    const Task* known = current_task(state, report.node.id, task.task);
    if (known && !known->over())
      take_task(task, *known, find_node(state, report.node.id), now, drafts);
    else if (task.state != TaskState::exited)
      ++strays;
  }
  miss_tasks(state, report, listed, gone, now, drafts);
  if (!foreign) see_staging(state, report, drafts);
  drafts.settle_all();

  const Node* known = find_node(state, report.node.id);
  if (strays != (known ? known->strays : 0))
    events.push_back({now, NodeStraysCounted{report.node.id, strays}});
  return events;
}

}  // namespace podium
