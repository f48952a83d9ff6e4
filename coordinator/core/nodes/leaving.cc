#include "coordinator/core/nodes/leaving.h"

#include <algorithm>
#include <charconv>
#include <csignal>

#include "coordinator/core/jobs/draft.h"

namespace podium {
namespace {

bool is_on(const Job& job, const NodeId& node) {
  return job.attempt && std::ranges::find(job.attempt->allocation.ranks, node, &Placement::node) !=
                            job.attempt->allocation.ranks.end();
}

void end_tasks(const NodeId& node, const std::string& reason, JobDraft& draft) {
  TaskExit exit;
  exit.signal = SIGKILL;
  exit.message = reason;
  exit.cause = ExitCause::agent_stopped;
  const Attempt attempt = *draft.job().attempt;
  for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank)
    if (attempt.allocation.ranks[rank].node == node && !attempt.tasks[rank].over())
      draft.emit(TaskExited{draft.task(static_cast<int>(rank)), exit});
}

}  // namespace

std::optional<Drain> end_of_loan(const NodeDescription& node) {
  constexpr std::int64_t kLatest = 253'402'300'799;  // the end of the year 9999
  const auto label = node.labels.find(std::string(kLoanEnds));
  if (label == node.labels.end()) return std::nullopt;
  std::int64_t seconds = 0;
  const char* const end = label->second.data() + label->second.size();
  const auto [rest, error] = std::from_chars(label->second.data(), end, seconds);
  if (error != std::errc{} || rest != end || seconds < 0 || seconds > kLatest) return std::nullopt;
  return Drain{"it must be given back then", from_millis(seconds * 1000), {}};
}

Result<Events> remove_node(const ClusterState& state, const RemoveNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return Events{};
  Events events;
  Drafts drafts(state, events, now);
  bool in_use = false;
  for (const auto& [id, job] : state.jobs) {
    if (!is_on(job, command.node)) continue;
    in_use = true;
    end_tasks(command.node, command.reason, drafts.of(id));
  }
  drafts.settle_all();
  if (!in_use)
    events.push_back({now, NodeLeft{command.node, command.reason}});
  else if (!node->drain || node->drain->is_window())
    events.push_back({now, NodeDrained{command.node, Drain{command.reason, {}, {}}}});
  return events;
}

}  // namespace podium
