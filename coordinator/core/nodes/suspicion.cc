#include "coordinator/core/nodes/suspicion.h"

#include <algorithm>
#include <set>

#include "coordinator/core/events/judge_nodes.h"
#include "coordinator/core/state/exits.h"

namespace podium {
namespace {

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

void drain_lemons(const ClusterState& state, Time now, Events& events) {
  for (const NodeId& id : state.indexes.suspects) {
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
