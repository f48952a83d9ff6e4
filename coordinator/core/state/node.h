// A node: its devices and the job that holds each, what its agent reports, what operators set, and the
// failures held against it. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/node.h"
#include "common/model/sync.h"
#include "coordinator/core/state/account.h"
#include "coordinator/core/state/free_devices.h"
#include "coordinator/core/state/job.h"
#include "coordinator/core/state/job_class.h"

namespace podium {

struct DeviceSlot {
  Device device;
  std::optional<JobId> holder;

  bool operator==(const DeviceSlot&) const = default;
};

// An operator's drain: what runs on the node goes on, and nothing new starts. With a time it is a maintenance
// window: a job that ends before the window may still start.
struct Drain {
  std::string reason;
  std::optional<Time> from;   // none: at once
  std::optional<Time> until;  // none: until the node is resumed

  bool is_window() const { return from || until; }
  // Whether it forbids a job from `start` to `end`.
  bool forbids(Time start, Time end) const { return (!from || *from < end) && (!until || start < *until); }
  bool operator==(const Drain&) const = default;
};

// An operator reserves a node for the jobs of an account and of the accounts below it. What runs there goes
// on. A job of another account may still start if it ends before the reservation begins.
struct NodeReservation {
  std::string account;
  std::string reason;
  std::optional<Time> from;   // none: at once
  std::optional<Time> until;  // none: until an operator ends it

  // Whether it forbids a job of `of` from `start` to `end`.
  bool forbids(const std::string& of, Time start, Time end) const {
    return !is_at_or_below(of, account) && (!from || *from < end) && (!until || start < *until);
  }
  bool operator==(const NodeReservation&) const = default;
};

// A job's attempt failed soon after its start, possibly because of the node.
struct Suspicion {
  ExperimentId experiment;
  Time at;
  std::string what;
  bool confirmed = false;  // the job has done well elsewhere since

  bool operator==(const Suspicion&) const = default;
};

// A node's wall clock against the cluster's time, as a sync measures it, with an error of half the round trip
// at most.
struct ClockMeasure {
  Duration ahead{};  // of the cluster's time; negative: behind
  Duration round_trip{};

  bool off() const { return ahead > kFar || ahead < -kFar; }  // by enough to be reported
  static constexpr Duration kFar = std::chrono::seconds(1);
  bool operator==(const ClockMeasure&) const = default;
};

struct Node {
  std::size_t ordinal = 0;                // in the order of joining
  NodeDescription description;            // its devices are in `devices`
  std::vector<std::string> former_boots;  // of its agent's earlier processes, the newest few
  std::vector<DeviceSlot> devices;
  NodeState state = NodeState::up;
  Time last_seen;
  Time heard_since;                   // its agent has reported without a gap since then
  std::optional<ClockMeasure> clock;  // as last_seen not on disk
  std::int64_t orders_version = 1;    // without changes of is_withheld
  std::int64_t withheld_version = 0;  // changes of is_withheld; not on disk
  int strays = 0;  // live tasks that no order covers; the node gets no work while there are any
  std::optional<Drain> drain;
  std::optional<NodeReservation> reservation;
  std::map<JobId, Suspicion> suspicions;  // suspicion.h
  Labels operator_labels;                 // override its agent's
  // From its newest report, and the operator's decision on it; not on disk.
  std::vector<TaskId> unknown;  // live tasks that this database never ordered: parked
  std::string stranger;  // the other cluster that the tasks belong to; "": this one, before it was restored
  std::optional<bool> adopted;  // an operator's decision: whether they are stopped
  NetworkPlace place;           // by its labels

  std::int64_t version() const { return orders_version + withheld_version; }  // of its orders
  // Whether it gets work; with a maintenance window only from jobs that end before it.
  bool usable() const { return state == NodeState::up && strays == 0 && (!drain || drain->is_window()); }
  // Whether it gets work but is closed to some jobs at some time.
  bool has_windows() const { return reservation || (drain && drain->is_window()); }
  bool forbids(const std::string& account, Time start, Time end) const {
    return (drain && drain->forbids(start, end)) ||
           (reservation && reservation->forbids(account, start, end));
  }
  // When its drain and its reservation end by themselves.
  std::array<std::optional<Time>, 2> window_ends() const {
    return {drain ? drain->until : std::nullopt, reservation ? reservation->until : std::nullopt};
  }
  bool operator==(const Node&) const = default;
};

// A node's labels: its agent's, overridden by its operators'.
Labels labels_of(const Node& node);

// How many of a rank's devices on its node are healthy.
int healthy_devices(const Node& node, const Placement& place);

// The jobs that hold devices of a node, by id.
std::vector<JobId> holders_of(const Node& node);

}  // namespace podium
