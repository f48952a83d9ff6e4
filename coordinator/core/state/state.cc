#include "coordinator/core/state/state.h"

#include <algorithm>

namespace podium {

const Job* find_job(const ClusterState& state, JobId job) {
  const auto found = state.jobs.find(job);
  return found == state.jobs.end() ? nullptr : &found->second;
}

const Node* find_node(const ClusterState& state, const NodeId& node) {
  const auto found = state.nodes.find(node);
  return found == state.nodes.end() ? nullptr : &found->second;
}

bool account_exists(const ClusterState& state, const std::string& account) {
  return account == kDefaultAccount || state.accounts.contains(account);
}

const AccountRules& rules_of(const ClusterState& state, const std::string& account) {
  static const AccountRules standard;
  const auto found = state.accounts.find(account);
  return found == state.accounts.end() ? standard : found->second.rules;
}

bool awaits_reports(const ClusterState& state) { return !state.unheard.empty() || state.listens_until; }

bool is_withheld(const ClusterState& state, const Attempt& attempt, const Task& task) {
  return state.listens_until && attempt.stop == StopCause::none && !task.listed;
}

std::optional<UnknownTask> find_unknown(const ClusterState& state, JobId job) {
  for (const auto& [id, node] : state.nodes)
    for (const TaskId task : node.unknown)
      if (task.attempt.job == job && node.stranger.empty() && node.state != NodeState::lost)
        return UnknownTask{id, task};
  return std::nullopt;
}

std::optional<Time> next_window_end(const ClusterState& state) {
  std::optional<Time> next;
  for (const NodeId& id : state.indexes.windows)
    for (const auto until : state.nodes.at(id).window_ends())
      if (until) next = next ? std::min(*next, *until) : until;
  return next;
}

}  // namespace podium
