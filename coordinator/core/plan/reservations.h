// When and where blocked jobs will start if every running job takes all of its walltime, and what that leaves
// to the jobs behind them: EASY backfill (Lifka, 1995) with several reservations and nodes told apart.
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
    int spare = 0;    // that others may have at `at`
  };

  JobId job;
  Time at;
  Time end;  // `at` and the job's walltime
  std::vector<Claim> claims;
};

// Adds to a pool's free devices those of it that are allocated to a job, but for unhealthy devices and nodes
// that get no work.
void add_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// Undoes add_devices.
void remove_devices(const ClusterState& state, const Job& job, DevicePool& pool);
// Both for a job of the state's index, without looking at the job itself where its nodes are in order.
void add_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool);
void remove_devices(const ClusterState& state, const RunningJob& job, DevicePool& pool);
// Takes out of `free` the nodes whose maintenance window or reservation forbids a job of `account` from
// `start` to `end`.
void close_windows(const ClusterState& state, const std::string& account, Time start, Time end,
                   FreeDevices& free);

// Whether the job fits into what is free in the pool from now to its end, those windows considered.
bool has_room(const ClusterState& state, const DevicePool& pool, const Job& job, Time now);

// The reservations of one kind's queue, highest first.
class Reservations {
 public:
  Reservations(const ClusterState& state, const std::string& kind, Time now)
      : state_(state), kind_(kind), now_(now), leaving_(state.indexes.leaving) {}

  std::size_t size() const { return reservations_.size(); }
  const std::vector<Reservation>& list() const { return reservations_; }

  // Whether any of them, or a node's window, may concern a job that ends at `end`.
  bool bind(Time end) const;
  // Of the devices in `free` at present, those a job of `account` may take that ends at `end` without
  // delaying any of them or running into a node's window.
  FreeDevices open_to(const FreeDevices& free, const std::string& account, Time end) const;
  // A job starts now on these, and ends at `end`.
  void start(const NodeSlices& slices, Time end);
  // A running job is going to leave, as those do that are leaving already.
  void expect_leaving(JobId job) { leaving_.insert(job); }
  // One is going to shrink and frees these.
  void expect_shrinking(JobId job, NodeSlices surplus) { shrinking_[job] = std::move(surplus); }

  // Reserves, of the pool, the earliest start after those already reserved. Nothing where the job can never
  // start with the nodes that are up.
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
