#include "coordinator/core/nodes/deadlines.h"

#include <algorithm>
#include <map>

#include "common/base/units.h"
#include "coordinator/core/state/time_text.h"

namespace podium {
namespace {

// A node that was silent, or that the coordinator could not hear, has its orders only since then.
Time deadline_on(const Node& node, Time since, Duration within) {
  return std::max(since, node.heard_since) + within;
}

std::string process_of(const Task& task) {
  return task.pid > 0 ? " (process " + std::to_string(task.pid) + ")" : "";
}

class Deadlines {
 public:
  Deadlines(const ClusterState& state, Time now, Events& events, Drafts& drafts)
      : state_(state), now_(now), events_(events), drafts_(drafts) {}

  void keep(JobId id) {
    JobDraft& draft = drafts_.of(id);
    if (!draft.job().attempt) return;
    const Attempt attempt = *draft.job().attempt;
    for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank) {
      const Task& task = attempt.tasks[rank];
      const Node& node = state_.nodes.at(attempt.allocation.ranks[rank].node);
      if (task.over() || node.state != NodeState::up) continue;
      if (attempt.stopping)
        end(draft, attempt, rank, node);
      else if (task.phase == TaskPhase::ordered)
        start(draft, attempt, rank, node);
    }
  }

  // A task that counts as lost still runs: its device becomes free once the agent reports that it is gone.
  void count_strays() {
    for (const auto& [id, tasks] : abandoned_)
      events_.push_back({now_, NodeStraysCounted{id, state_.nodes.at(id).strays + tasks}});
  }

 private:
  void start(JobDraft& draft, const Attempt& attempt, std::size_t rank, const Node& node) {
    const Duration within = start_within(attempt, state_.limits);
    const std::optional<Time> ready = ready_to_start(attempt);
    if (!ready || now_ < deadline_on(node, *ready, within)) return;
    draft.stop(StopCause::not_started, node.description.id.value + " reports, but did not start rank " +
                                           std::to_string(rank) + " within " + format_duration(within));
  }

  void end(JobDraft& draft, const Attempt& attempt, std::size_t rank, const Node& node) {
    const Duration within = stop_within(attempt, state_.limits);
    if (now_ < deadline_on(node, *attempt.stopping, within)) return;
    const TaskId task = draft.task(static_cast<int>(rank));
    const std::string process = process_of(attempt.tasks[rank]);
    draft.emit(TaskLost{task, "it did not end within " + format_duration(within) +
                                  " of being told to, nor when it was killed" + process});
    const NodeId& id = node.description.id;
    const bool closed = node.drain && !node.drain->is_window();
    if (++abandoned_[id] > 1 || closed) return;
    const std::string reason = "could not end rank " + std::to_string(task.rank) + " of job " +
                               to_string(task.attempt.job) + process + ", which was told to stop at " +
                               time_text(*attempt.stopping);
    events_.push_back({now_, NodeDrained{id, Drain{reason, {}, {}}}});
  }

  const ClusterState& state_;
  const Time now_;
  Events& events_;
  Drafts& drafts_;
  std::map<NodeId, int> abandoned_;  // tasks, by node
};

}  // namespace

void keep_deadlines(const ClusterState& state, Time now, Events& events, Drafts& drafts) {
  Deadlines deadlines(state, now, events, drafts);
  for (const auto& [at, job] : state.indexes.deadlines) {
    if (at > now) break;
    deadlines.keep(job);
  }
  deadlines.count_strays();
}

std::string awaited(const ClusterState& state, const Job& job) {
  const Attempt& attempt = *job.attempt;
  const auto left = std::ranges::find_if_not(attempt.tasks, &Task::over);
  if (left == attempt.tasks.end() || !attempt.stopping) return "";
  const auto rank = static_cast<std::size_t>(left - attempt.tasks.begin());
  const Node& node = state.nodes.at(attempt.allocation.ranks[rank].node);
  std::string text = "waits for rank " + std::to_string(rank) + " on " + node.description.id.value +
                     process_of(*left) + " to end";
  if (node.state != NodeState::up) return text + "; the node is silent";
  return text + ", at most until " +
         time_text(deadline_on(node, *attempt.stopping, stop_within(attempt, state.limits)));
}

}  // namespace podium
