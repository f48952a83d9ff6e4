// A few jobs on one node whose devices are all alike, lived through: what textbooks schedule.
#pragma once

#include <string>
#include <vector>

#include "coordinator/forecast/replay.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {

const Time kStart = from_millis(1'700'000'000'000);

struct GivenJob {
  Duration at{};
  int devices = 1;
  Duration work{};
  Duration walltime{};
  std::string account = "default";
  int priority = 50;
};

inline ClusterState one_node(int devices, PolicyKind policy) {
  ClusterState state;
  state.clock = kStart;
  state.scheduling.policy = policy;
  apply(state, {kStart, NodeJoined{node_with("n", devices)}});
  return state;
}

// Stopping costs a millisecond and no work: what the literature calls free preemption.
inline Replay live(ClusterState state, const std::vector<GivenJob>& jobs) {
  std::vector<TraceJob> trace;
  for (const GivenJob& job : jobs) {
    JobRequest request = request_for(job.devices);
    request.walltime = job.walltime;
    request.account = job.account;
    request.priority = job.priority;
    trace.push_back({kStart + job.at, job.work, request});
  }
  return replay(std::move(state), trace, {.model = {Duration{}, Duration(1)}, .until = {}});
}

}  // namespace podium
