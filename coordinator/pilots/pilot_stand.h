// What the cluster wants of Slurm: the jobs that wait for nodes on demand, and the nodes that Slurm lends.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coordinator/core/plan/plan.h"

namespace podium {

// A job that waits for devices and that `nodes` nodes on demand would hold.
struct NodeWish {
  JobId job;
  int attempt = 1;  // that would start
  int nodes = 1;
  int devices = 1;
  Duration walltime{};

  bool operator==(const NodeWish&) const = default;
};

struct LentNode {
  NodeId id;
  bool busy = false;    // an attempt holds some of it
  bool silent = false;  // it is unknown or lost
  bool lost = false;
  bool closed = false;  // nothing starts there any more
};

struct PilotStand {
  std::vector<NodeWish> wishes;  // in the order in which they may start; no more than nodes are allowed
  std::set<JobId> waiting;  // of the jobs that were asked about and those that wish: who waits, whatever for
  std::map<std::int64_t, std::vector<LentNode>> lent;  // by allocation

  // Of jobs that would wait in vain for nodes on demand.
  std::set<JobId> too_long;
};

// The label of a node with the number of its job of Slurm.
inline constexpr std::string_view kAllocationLabel = "slurm-job";

// `plan`: the last of this state.
PilotStand pilot_stand(const ClusterState& state, const Plan& plan, const std::set<JobId>& asked_about,
                       Time now);

}  // namespace podium
