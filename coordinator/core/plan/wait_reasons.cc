#include "coordinator/core/plan/wait_reasons.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "coordinator/core/state/time_text.h"

namespace podium {
namespace {

// "node-1 and 2 other nodes"
std::string first_of(const std::vector<NodeId>& nodes) {
  return nodes.front().value +
         (nodes.size() > 1 ? " and " + std::to_string(nodes.size() - 1) + " other node" : "") +
         (nodes.size() > 2 ? "s" : "");
}

// It would fit without the windows of nodes.
Blocker closed_nodes(const ClusterState& state, const Job& job, Time now, Time end) {
  Blocker maintenance{.code = BlockerCode::maintenance};
  Blocker reserved{.code = BlockerCode::reserved_nodes};
  for (const NodeId& id : state.indexes.windows) {
    const Node& node = state.nodes.at(id);
    if (node.drain && node.drain->forbids(now, end))
      maintenance.nodes.push_back(id);
    else if (node.forbids(job.request.account, now, end))
      reserved.nodes.push_back(id);
  }
  if (!maintenance.nodes.empty()) {
    maintenance.sentence =
        "fits now, but its walltime reaches into the maintenance of " + first_of(maintenance.nodes);
    return maintenance;
  }
  PODIUM_CHECK(!reserved.nodes.empty(),
               "only reservations and maintenance keep free devices from a job they suffice for");
  reserved.sentence = "fits now, but its walltime reaches into the reservation of " +
                      first_of(reserved.nodes) + " for account " +
                      state.nodes.at(reserved.nodes.front()).reservation->account;
  return reserved;
}

}  // namespace

Blocker backs_off(Time until) {
  return {.code = BlockerCode::back_off,
          .sentence = "failed several times soon after its start; starts again at " + time_text(until),
          .until = until};
}

std::optional<Blocker> behind_fence(const Job& job, const Limits& limits, Time now) {
  if (!job.attempt || job.state != JobState::starting) return std::nullopt;
  const Time until = job.attempt->created + fence_wait(*job.attempt, limits);
  if (until <= now) return std::nullopt;
  return Blocker{.code = BlockerCode::fence,
                 .sentence = "has its devices and starts at " + time_text(until) +
                             ": a task of an earlier attempt was lost, and may run until then",
                 .until = until};
}

Blocker would_delay(const ClusterState& state, const Reservations& reservations, const Job& job, Time now,
                    Time end) {
  const auto& all = reservations.list();
  const auto first = std::ranges::find_if(all, [end](const Reservation& r) { return end > r.at; });
  if (first == all.end()) return closed_nodes(state, job, now, end);
  Blocker blocker{.code = BlockerCode::reserved, .job = first->job, .until = first->at};
  blocker.sentence = "fits now, but its walltime would delay job " + to_string(first->job) +
                     ", for which devices are reserved";
  return blocker;
}

}  // namespace podium
