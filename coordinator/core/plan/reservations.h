// When and where blocked jobs will start if every running job takes all of its walltime, and what that leaves
// for the jobs behind them: EASY backfill (Lifka, 1995) with several reservations, by node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/placement/placement.h"

namespace podium {

struct Reservation {
  struct Claim {
    std::size_t node = 0;
    int devices = 0;  // of the reservation, from `at` on
    int spare = 0;    // free for others at `at`
  };

  JobId job;
  Time at;
  Time end;  // `at` and the job's walltime
  std::vector<Claim> claims;
};

// Adds the devices that are allocated to a job to the pool's free devices, without unhealthy devices and
// nodes that get no work.
void add_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// Undoes add_devices.
void remove_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// The same for a job of the state's index; the job itself is read only where a node of it is impaired.
void add_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool);
void remove_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool);
// Takes out of `free` the nodes whose maintenance window or reservation forbids a job of `account` from
// `start` to `end`.
void close_windows(const ClusterState& state, const std::string& account, Time start, Time end,
                   FreeDevices& free);

// Whether the job fits into the pool's free devices from now to its end, outside of those windows.
bool has_room(const ClusterState& state, const DevicePool& pool, const Job& job, Time now);

// The reservations of one kind's queue, highest first.
class Reservations {
 public:
  Reservations(const ClusterState& state, const std::string& kind, Time now)
      : state_(state), kind_(kind), now_(now), leaving_(state.indexes.leaving) {}

  std::size_t size() const { return reservations_.size(); }
  const std::vector<Reservation>& list() const { return reservations_; }

  // Whether a reservation or a node's window may affect a job that ends at `end`.
  bool bind(Time end) const;
  // The devices of `free` that a job of `account` that ends at `end` may take now without delaying a
  // reservation or running into a node's window.
  FreeDevices open_to(const FreeDevices& free, const std::string& account, Time end) const;
  // A job starts on `slices` now and ends at `end`.
  void start(const NodeSlices& slices, Time end);
  // A running job will leave; it is treated as those that are leaving already.
  void expect_leaving(JobId job) { leaving_.insert(job); }
  // A running job will shrink and free `surplus`.
  void expect_shrinking(JobId job, NodeSlices surplus) { shrinking_[job] = std::move(surplus); }

  // Reserves the earliest start in the pool that delays no earlier reservation. Null where the job can never
  // start on the nodes that are up.
  const Reservation* reserve(const DevicePool& pool, const Job& job);

 private:
  FreeDevices open_at(const FreeDevices& free, const std::string& account, Time start, Time end) const;
  void take(const NodeSlices& slices, Time start, Time end);
  std::multimap<Time, NodeSlices> moments() const;
  void add(const FreeDevices& open, const Job& job, Time at, const NodeSlices& slices);

  const ClusterState& state_;
  const std::string& kind_;
  Time now_;
  std::set<JobId> leaving_;
  std::map<JobId, NodeSlices> shrinking_;
  std::vector<Reservation> reservations_;
  std::multimap<Time, NodeSlices> started_;  // by their ends
};

}  // namespace podium
