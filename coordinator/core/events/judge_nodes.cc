#include "coordinator/core/events/judge_nodes.h"

#include <iterator>

#include "common/base/text.h"
#include "coordinator/core/state/exits.h"

namespace podium {
namespace {

constexpr std::size_t kLongestWords = 150;  // of one failure in the reason of a drain

void clear(ClusterState& state, const NodeId& id) {
  state.nodes.at(id).suspicions.clear();
  state.indexes.suspects.erase(id);
}

// Its own failures follow it from node to node.
void acquit_nodes(ClusterState& state, JobId job) {
  for (auto suspect = state.indexes.suspects.begin(); suspect != state.indexes.suspects.end();) {
    auto& suspicions = state.nodes.at(*suspect).suspicions;
    suspicions.erase(job);
    suspect = suspicions.empty() ? state.indexes.suspects.erase(suspect) : std::next(suspect);
  }
}

void suspect(ClusterState& state, const Job& job, int rank, const std::string& reason, Time at) {
  const NodeId& id = job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node;
  auto& suspicions = state.nodes.at(id).suspicions;
  if (job.retries.quick > 0 && !suspicions.contains(job.id)) return acquit_nodes(state, job.id);
  std::erase_if(suspicions, [at](const auto& of) { return at - of.second.at > kSuspectFor; });
  suspicions[job.id] = {job.experiment, at,
                        "job " + to_string(job.id) + ", " + cut_text(reason, kLongestWords)};
  state.indexes.suspects.insert(id);
}

// It has done well elsewhere.
void confirm(ClusterState& state, JobId job) {
  for (const NodeId& id : state.indexes.suspects) {
    auto& suspicions = state.nodes.at(id).suspicions;
    if (const auto own = suspicions.find(job); own != suspicions.end()) own->second.confirmed = true;
  }
}

}  // namespace

void judge_nodes(ClusterState& state, const Job& job, const AttemptEnded& ended, Time at) {
  const Attempt& attempt = *job.attempt;
  const bool quick = at - attempt.started.value_or(attempt.created) < kQuick;
  if (ended.end == AttemptEnd::succeeded || (!quick && ended.end != AttemptEnd::failed)) {
    for (const Placement& place : attempt.allocation.ranks) clear(state, place.node);
    return confirm(state, job.id);
  }
  if (ended.end != AttemptEnd::failed || !quick || !attempt.culprit) return;
  const Task& culprit = attempt.tasks[static_cast<std::size_t>(*attempt.culprit)];
  if (may_be_the_nodes_fault(*culprit.exit, job.request.command))
    suspect(state, job, *attempt.culprit, ended.reason, at);
}

void forgive_node(ClusterState& state, const NodeId& node) {
  clear(state, node);
  for (auto& [id, job] : state.jobs) std::erase(job.avoid, node);
}

}  // namespace podium
