// Indexes derived from nodes and jobs, so that a plan does not visit them one by one. Only `apply` writes
// them (events/keep_indexes.h, pools.h). They are never saved, and every replay gives equal ones.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "coordinator/core/state/fabric.h"
#include "coordinator/core/state/free_devices.h"
#include "coordinator/core/state/job_class.h"
#include "coordinator/core/state/running_jobs.h"

namespace podium {

// The order in which jobs of one kind may start: the policy's rank (Policy::rank), smaller first, then age.
struct QueueKey {
  std::int64_t rank = 0;
  Time submitted;
  JobId job;

  auto operator<=>(const QueueKey&) const = default;
};

using Queue = std::map<JobClass, std::set<QueueKey>>;

// Devices of a kind on nodes with these labels.
struct PoolKey {
  std::string kind;
  Labels nodes;

  auto operator<=>(const PoolKey&) const = default;
};

// Jobs of an account on devices of a kind.
struct RunningKey {
  std::string kind;
  std::string account;

  auto operator<=>(const RunningKey&) const = default;
};

struct DevicePool {
  FreeDevices free;        // healthy devices that no job holds, on usable nodes
  FreeDevices capacity;    // all devices; nodes without any are outside the pool
  std::int64_t users = 0;  // live jobs that ask for these labels; the pool is dropped with the last

  bool operator==(const DevicePool&) const = default;
};

struct Indexes {
  std::vector<NodeId> node_ids;             // by ordinal
  Fabric fabric;                            // names the switches whose numbers are in the pools
  std::map<PoolKey, DevicePool> pools;      // one for each kind, and one for each set of labels of live jobs
  std::map<std::string, Queue> queues;      // by device kind; the jobs in line
  std::set<std::pair<Time, JobId>> timers;  // next_timer of every job that has one
  std::set<std::pair<Time, JobId>> deadlines;       // next_deadline of every job that has one
  std::set<std::pair<JobId, JobId>> dependents;     // a job, and a job that waits for its end
  std::set<JobId> leaving;                          // jobs whose attempt is being stopped
  std::map<RunningKey, RunningJobs> running;        // jobs whose attempt is not being stopped
  std::set<JobId> resizing;                         // jobs with Job::resize
  std::map<std::string, std::set<JobId>> elastic;   // by device kind; elastic jobs that run
  std::map<std::string, std::set<JobId>> services;  // by service; its replicas that have not ended
  std::set<NodeId> suspects;                        // nodes with suspicions
  std::set<NodeId> windows;                         // nodes with a maintenance window or reservation
  std::set<std::size_t> impaired;                   // nodes that get no work or have an unhealthy device
  std::set<std::pair<Time, NodeId>> last_seen;      // of every node that is not lost

  bool operator==(const Indexes&) const = default;
};

}  // namespace podium
