// What is simulated: the trace's jobs, each on its partition's nodes, under one policy. Partitions share
// nothing, so each is a replay of its own and they run on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/simulate/cluster_file.h"
#include "cli/simulate/trace_file.h"
#include "coordinator/forecast/replay.h"

namespace podium::cli {

struct Partition {
  std::string name;  // "" where there is only one
  std::vector<NodeGroup> groups;
  std::vector<std::size_t> rows;  // of the trace
  bool derived = false;           // its size follows from its jobs, for the cluster does not name it

  std::int64_t devices() const;
};

// Where each job runs. A partition that the cluster lacks gets nodes like the cluster's first: as many as its
// largest gang needs, and as its jobs would fill on average. Where the trace or the cluster knows no
// partitions all nodes are one.
std::vector<Partition> partitions_of(const ClusterFile& cluster, const TraceFile& trace);

struct RunOptions {
  SchedulingOptions scheduling;
  RunModel model;
  std::map<std::string, AccountRules> accounts;  // in each partition apart
  int add_nodes = 0;                             // to each partition
  std::optional<NodeGroup> added;                // of this kind; none: like the partition's first
  double walltime_factor = 3;     // jobs without a walltime ask for 1 to so many times their duration
  std::optional<Duration> until;  // since the first submission
};

// The jobs' outcomes are in the order of the rows. `ended` is called from several threads with jobs that
// ended since its last call.
Replay run(const std::vector<TraceRow>& rows, const std::vector<Partition>& partitions,
           const RunOptions& options, const std::function<void(std::size_t)>& ended);

}  // namespace podium::cli
