#include "coordinator/pilots/pilot_stand.h"

#include <algorithm>
#include <charconv>

#include "coordinator/core/placement/placement.h"

namespace podium {
namespace {

std::optional<std::int64_t> allocation_of(const Node& node) {
  const auto label = node.description.labels.find(std::string(kAllocationLabel));
  if (label == node.description.labels.end()) return std::nullopt;
  std::int64_t id = 0;
  const char* const end = label->second.data() + label->second.size();
  const auto [rest, error] = std::from_chars(label->second.data(), end, id);
  return error == std::errc{} && rest == end && id > 0 ? std::optional(id) : std::nullopt;
}

// More nodes let no job start that waits for one of these.
bool is_for_want_of_nodes(BlockerCode code) {
  switch (code) {
    case BlockerCode::too_large:
    case BlockerCode::devices:
    case BlockerCode::reserved:
    case BlockerCode::maintenance:
    case BlockerCode::reserved_nodes:
    case BlockerCode::running:
    case BlockerCode::unavailable:
    case BlockerCode::avoided:
    case BlockerCode::queue:
      return true;
    default:
      return false;
  }
}

bool backs_off_at(const Job& job, Time now) { return job.not_before && *job.not_before > now; }

// The first jobs of a class, which fit or do not fit together.
void add_class(const ClusterState& state, const Plan& plan, const std::set<QueueKey>& line, Time now,
               std::vector<QueueKey>& found) {
  const int most = state.scheduling.on_demand->nodes;
  int added = 0;
  for (const QueueKey& key : line) {
    const auto blocked = plan.blocked.find(key.job);
    const bool tried = blocked != plan.blocked.end();
    if (backs_off_at(state.jobs.at(key.job), now)) continue;
    if (tried && !is_for_want_of_nodes(blocked->second.code)) return;
    found.push_back(key);
    if (++added == most) return;
  }
}

std::vector<QueueKey> starved(const ClusterState& state, const Plan& plan, Time now) {
  std::vector<QueueKey> found;
  const auto queue = state.indexes.queues.find(state.scheduling.on_demand->kind);
  if (queue == state.indexes.queues.end()) return found;
  for (const auto& [job_class, line] : queue->second) add_class(state, plan, line, now, found);
  std::ranges::sort(found);
  return found;
}

NodeWish wish_for(const Job& job, int nodes) {
  return {job.id, job.newest_attempt() + 1, nodes, job.request.devices, job.request.walltime};
}

}  // namespace

PilotStand pilot_stand(const ClusterState& state, const Plan& plan, const std::set<JobId>& asked_about,
                       Time now) {
  PilotStand stand;
  for (const auto& [id, node] : state.nodes)
    if (const auto allocation = allocation_of(node))
      stand.lent[*allocation].push_back({id, !holders_of(node).empty(), node.state != NodeState::up,
                                         node.state == NodeState::lost,
                                         node.drain && !node.drain->is_window()});
  for (const JobId id : asked_about)
    if (const Job* const job = find_job(state, id); job && job->in_line()) stand.waiting.insert(id);
  if (!state.scheduling.on_demand || awaits_reports(state)) return stand;
  for (const QueueKey& key : starved(state, plan, now)) {
    const Job& job = state.jobs.at(key.job);
    const int nodes = nodes_on_demand(state.scheduling, job.request);
    if (nodes > 0) {
      stand.wishes.push_back(wish_for(job, nodes));
      stand.waiting.insert(job.id);
    } else if (job.request.walltime > state.scheduling.on_demand->walltime) {
      stand.too_long.insert(job.id);
    }
    if (std::ssize(stand.wishes) >= state.scheduling.on_demand->nodes) break;
  }
  return stand;
}

}  // namespace podium
