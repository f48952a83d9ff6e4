#include "coordinator/core/report.h"

#include <set>

#include "coordinator/core/draft.h"

namespace podium {
namespace {

Errors check_report(const NodeReport& report) {
  Errors errors;
  if (report.node.id.value.empty()) errors.push_back({ErrorCode::invalid, "a node needs an id", "/node/id"});
  std::set<int> indexes;
  for (const Device& device : report.node.devices)
    if (!indexes.insert(device.index).second)
      errors.push_back({ErrorCode::invalid, "device " + std::to_string(device.index) + " is listed twice",
                        "/node/devices"});
  return errors;
}

void see_node(const ClusterState& state, const NodeDescription& node, Time now, Events& events) {
  const Node* known = find_node(state, node.id);
  if (!known) {
    events.push_back({now, NodeJoined{node}});
    return;
  }
  if (known->description != node) events.push_back({now, NodeChanged{node}});
  events.push_back({now, NodeSeen{node.id}});
  if (known->state != NodeState::up)
    events.push_back(
        {now, NodeStateChanged{node.id, known->state, NodeState::up, "its agent reports again"}});
}

// The task as the core knows it, if it belongs to the attempt that lives and to this node.
const Task* current_task(const ClusterState& state, const NodeId& node, TaskId id) {
  const Job* job = find_job(state, id.attempt.job);
  if (!job || !job->attempt || job->attempt->number != id.attempt.number) return nullptr;
  const auto rank = static_cast<std::size_t>(id.rank);
  if (id.rank < 0 || rank >= job->attempt->tasks.size()) return nullptr;
  return job->attempt->allocation.ranks[rank].node == node ? &job->attempt->tasks[rank] : nullptr;
}

void take_task(const TaskReport& report, const Task& known, Drafts& drafts) {
  const JobId job = report.task.attempt.job;
  if (known.missing_since) drafts.of(job).emit(TaskFound{report.task});
  if (report.state == TaskState::exited)
    drafts.of(job).emit(TaskExited{report.task, *report.exit});
  else if (report.state == TaskState::running && known.phase == TaskPhase::ordered)
    drafts.of(job).emit(TaskStarted{report.task, report.pid});
}

// A task this node should have and does not list. One that was only ordered may still be on its way. It is
// lost when reports without it have kept coming for Limits::missing_after; a node that was silent meanwhile
// starts afresh.
void miss_task(const ClusterState& state, const NodeReport& report, const Task& task, TaskId id, Time now,
               Drafts& drafts) {
  const NodeId& node = report.node.id;
  const bool was_silent = now - state.nodes.at(node).last_seen >= state.limits.unknown_after;
  if (task.missing_since && was_silent) {
    drafts.of(id.attempt.job).emit(TaskMissed{id});
  } else if (task.missing_since) {
    if (now - *task.missing_since >= state.limits.missing_after)
      drafts.of(id.attempt.job).emit(TaskLost{id, "the agent of " + node.value + " does not know it"});
  } else if (task.phase == TaskPhase::running || report.orders_seen >= task.orders_version) {
    drafts.of(id.attempt.job).emit(TaskMissed{id});
  }
}

void miss_tasks(const ClusterState& state, const NodeReport& report, const std::set<TaskId>& listed, Time now,
                Drafts& drafts) {
  const Node* node = find_node(state, report.node.id);
  if (!node) return;
  for (const JobId id : holders_of(*node)) {
    const Job& job = state.jobs.at(id);
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
      const Task& task = job.attempt->tasks[rank];
      const TaskId task_id{job.attempt_id(), static_cast<int>(rank)};
      const bool here = job.attempt->allocation.ranks[rank].node == report.node.id;
      if (here && !task.over() && !listed.contains(task_id))
        miss_task(state, report, task, task_id, now, drafts);
    }
  }
}

}  // namespace

Result<Events> take_report(const ClusterState& state, const NodeReport& report, Time now) {
  if (Errors errors = check_report(report); !errors.empty()) return errors;
  Events events;
  see_node(state, report.node, now, events);

  Drafts drafts(state, events, now);
  std::set<TaskId> listed;
  int strays = 0;
  for (const TaskReport& task : report.tasks) {
    if (!listed.insert(task.task).second) continue;
    const Task* known = current_task(state, report.node.id, task.task);
    if (known && !known->over())
      take_task(task, *known, drafts);
    else if (task.state != TaskState::exited)
      ++strays;
  }
  miss_tasks(state, report, listed, now, drafts);
  drafts.settle_all();

  const Node* known = find_node(state, report.node.id);
  if (strays != (known ? known->strays : 0))
    events.push_back({now, NodeStraysCounted{report.node.id, strays}});
  return events;
}

}  // namespace podium
