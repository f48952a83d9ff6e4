#include "coordinator/core/nodes/suspicion.h"

#include <algorithm>
#include <set>

#include "common/base/text.h"
#include "coordinator/core/jobs/lifecycle.h"

namespace podium {
namespace {

constexpr std::size_t kLongestWords = 150;  // of one failure in the reason of a drain

void clear(ClusterState& state, const NodeId& id) {
  state.nodes.at(id).suspicions.clear();
  state.suspects.erase(id);
}

// Its own failures follow it from node to node.
void acquit_nodes(ClusterState& state, JobId job) {
  for (auto suspect = state.suspects.begin(); suspect != state.suspects.end();) {
    auto& suspicions = state.nodes.at(*suspect).suspicions;
    suspicions.erase(job);
    suspect = suspicions.empty() ? state.suspects.erase(suspect) : std::next(suspect);
  }
}

void suspect(ClusterState& state, const Job& job, int rank, const std::string& reason, Time at) {
  const NodeId& id = job.attempt->allocation.ranks[static_cast<std::size_t>(rank)].node;
  auto& suspicions = state.nodes.at(id).suspicions;
  if (job.retries.quick > 0 && !suspicions.contains(job.id)) return acquit_nodes(state, job.id);
  std::erase_if(suspicions, [at](const auto& of) { return at - of.second.at > kSuspectFor; });
  suspicions[job.id] = {job.experiment, at,
                        "job " + to_string(job.id) + ", " + cut_text(reason, kLongestWords)};
  state.suspects.insert(id);
}

// It has done well elsewhere.
void confirm(ClusterState& state, JobId job) {
  for (const NodeId& id : state.suspects) {
    auto& suspicions = state.nodes.at(id).suspicions;
    if (const auto own = suspicions.find(job); own != suspicions.end()) own->second.confirmed = true;
  }
}

bool runs_well_elsewhere(const ClusterState& state, JobId id, const NodeId& node, Time now) {
  const Job* job = find_job(state, id);
  return job && job->state == JobState::running && now - *job->attempt->started >= kQuick &&
         std::ranges::find(job->attempt->allocation.ranks, node, &Placement::node) ==
             job->attempt->allocation.ranks.end();
}

// Of the same kind.
bool has_others(const ClusterState& state, const Node& node) {
  const auto kind_of = [](const DeviceSlot& slot) { return slot.device.kind; };
  return std::ranges::any_of(state.nodes, [&](const auto& entry) {
    const Node& other = entry.second;
    return &other != &node && other.usable() &&
           std::ranges::find_first_of(other.devices, node.devices, {}, kind_of, kind_of) !=
               other.devices.end();
  });
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

void drain_lemons(const ClusterState& state, Time now, Events& events) {
  for (const NodeId& id : state.suspects) {
    const Node& node = state.nodes.at(id);
    if (node.drain && !node.drain->is_window()) continue;
    std::set<ExperimentId> experiments;
    std::string evidence;
    for (const auto& [job, suspicion] : node.suspicions)
      if (now - suspicion.at <= kSuspectFor &&
          (suspicion.confirmed || runs_well_elsewhere(state, job, id, now)) &&
          experiments.insert(suspicion.experiment).second)
        evidence += (evidence.empty() ? "" : "; ") + suspicion.what;
    if (experiments.size() < kLemon || !has_others(state, node)) continue;
    const std::string reason =
        std::to_string(experiments.size()) +
        " jobs that run well elsewhere failed here within a minute of their start: " + evidence;
    events.push_back({now, NodeDrained{id, Drain{reason, {}, {}}}});
  }
}

}  // namespace podium
