// A cluster of the size Podium is built for, as the coordinator would hold it: commands go through handle,
// apply, make_plan and enact, and the agents' reports are made up. No daemon, no disk, a clock of its own.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "coordinator/core/handle.h"
#include "coordinator/core/plan/plan.h"

namespace podium {

inline constexpr int kNodes = 10'000;
inline constexpr int kDevicesPerNode = 8;
inline constexpr int kJobs = 120'000;  // of which about 20,000 run when every device is taken

// What one turn took of its processor.
struct TurnCost {
  double total_ms = 0;  // handle, apply, make_plan, enact, apply
  double plan_ms = 0;   // make_plan alone
  int started = 0;      // jobs
};

// Whose jobs they are: of the one default account, or of kTeams accounts with kUsers below each, the first of
// which submit most and the last hardly anything.
struct Accounts {
  bool many = false;
  bool quotas = false;  // each team is guaranteed its part of the cluster, so that the first borrow
};
inline constexpr int kTeams = 20;
inline constexpr int kUsers = 10;

class Workload {
 public:
  Workload(const SchedulingOptions& options, const Accounts& accounts);

  void join_nodes();
  void queue_jobs(int count);

  // The turns to be measured. Each is one command, as the coordinator's loop takes it.
  TurnCost schedule();   // whatever can start now
  TurnCost end_a_job();  // a running job of one node exits
  TurnCost submit();     // one more job
  TurnCost cancel();     // a queued job

  // Every started task is reported running.
  void run_started();
  void pass(Duration time) { now_ += time; }

  const ClusterState& state() const { return state_; }
  Time now() const { return now_; }

 private:
  TurnCost turn(const Command& command);
  TurnCost plan_and_enact();
  JobRequest draw_request();
  std::string draw_account();
  JobId draw(JobState state);
  NodeReport report_of(const NodeId& node) const;

  Accounts accounts_;
  ClusterState state_;
  std::vector<NodeId> to_report_;  // nodes with tasks that just started
  std::mt19937_64 random_{2026};
  Time now_ = from_millis(1'767'225'600'000);
};

}  // namespace podium
