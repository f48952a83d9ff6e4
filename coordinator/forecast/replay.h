// Replays a trace of jobs on a cluster under the real scheduler: when each job started and ended, and how
// busy the devices were. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/forecast/virtual_cluster.h"

namespace podium {

struct TraceJob {
  Time submit;
  Duration work{};  // how long it runs on request.devices if nothing stops it
  JobRequest request;
};

struct JobOutcome {
  std::optional<Time> first_start;
  std::optional<Time> end;
  JobState state = JobState::queued;  // at the end of the replay
  int preemptions = 0;
  Duration ran{};  // all attempts together
  Duration device_time{};
  std::string refusal;  // why the coordinator would not take it
};

// The load from a time on: devices that jobs hold, and jobs that wait.
struct LoadChange {
  Time at;
  std::int64_t busy = 0;
  std::int64_t waiting = 0;
};

struct Replay {
  std::vector<JobOutcome> jobs;  // as in the trace
  std::vector<LoadChange> load;  // by time
  std::int64_t devices = 0;      // of the cluster
  std::int64_t blocked_idle =
      0;  // device ms idle while a job waited whose gang would fit in all idle devices that it may use
};

struct ReplayOptions {
  RunModel model;
  std::optional<Time> until;                                  // nothing happens after it
  std::function<void(std::size_t ended)> progress = nullptr;  // called after every step
};

// `cluster` has its nodes and no jobs. The trace need not be sorted; no job of it is submitted before
// state.clock.
Replay replay(ClusterState cluster, const std::vector<TraceJob>& trace, const ReplayOptions& options);

}  // namespace podium
