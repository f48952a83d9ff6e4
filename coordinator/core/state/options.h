// Settings of the daemon's configuration: how the scheduler decides, and how long the coordinator waits.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/lease.h"
#include "common/model/stopping.h"

namespace podium {

enum class PolicyKind {
  fifo,
  priority_backfill,
  least_attained_service,
  shortest_remaining_time,
  fair_share
};

// Nodes that are made when jobs need them and given back after (coordinator/pilots).
struct OnDemandNodes {
  std::string kind = "cpu";
  int devices = 1;                             // of each node
  int nodes = 1;                               // the most at a time
  std::map<std::string, std::string> labels;   // that each has
  Duration walltime = std::chrono::hours(24);  // the longest of a job that such nodes run

  bool operator==(const OnDemandNodes&) const = default;
};

// How the scheduler decides. Set once by the daemon's configuration.
struct SchedulingOptions {
  PolicyKind policy = PolicyKind::priority_backfill;
  bool preempt = false;                       // priority_backfill may stop running jobs of lower priority
  Duration ageing = std::chrono::hours(1);    // waiting that weighs as much as a point of priority
  double walltime_weight = 1;                 // hours of waiting that weigh as much as one of walltime
  int walltime_points = 20;                   // of priority that a walltime weighs at most
  Duration half_life = std::chrono::days(7);  // of what accounts have used
  int reservations = 4;                       // blocked jobs of a kind whose start nobody may delay
  int backfill_depth = 32;                    // jobs of one shape that are tried behind a reservation
  Duration resize_after = std::chrono::minutes(10);  // age of an attempt before which its size stays
  Duration max_walltime = kLongestWalltime;          // that a job may be submitted with
  std::optional<OnDemandNodes> on_demand = {};

  bool operator==(const SchedulingOptions&) const = default;
};

// How long the coordinator waits before it acts on silence. Set once by the daemon's configuration.
struct Limits {
  bool shared = true;                     // the nodes have one shared folder, and with it a fence
  Duration lease = lease::kUsual;         // common/model/lease.h
  Duration orphan = lease::kUsualOrphan;  // how long tasks go on without the coordinator, by the fence
  Duration unknown_after = lease::unknown_after(lease::kUsual);  // silence that makes a node unknown
  Duration lost_after = lease::lost_after(lease::kUsual, true);  // and lost, at least lease::lost_after
  Duration missing_after = std::chrono::seconds(15);  // of reports that lack a task; then it is lost
  Duration longest_pause =
      std::chrono::seconds(10);  // a longer gap between turns is the coordinator's own: no silence counts
  // How long a reporting node may take to start a task, and to end one that has the usual grace period; what
  // is beyond that period is for the node (common/model/stopping.h). See nodes/deadlines.h.
  Duration start_within = std::chrono::minutes(2);
  Duration stop_within = stopping::kUsualWithin;

  bool operator==(const Limits&) const = default;
};

}  // namespace podium
