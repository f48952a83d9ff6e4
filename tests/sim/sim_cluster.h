// A whole cluster in one object with a virtual clock: the real core, simulated nodes, and a log instead of a
// disk. Every turn is checked against what must always hold; the first violation is kept in words.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/handle.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/wait_log.h"
#include "tests/sim/sim_node.h"

namespace podium::sim {

class SimCluster {
 public:
  SimCluster(std::vector<NodeDescription> nodes, const SchedulingOptions& scheduling);

  // One turn of the loop. Refusals are answers, not violations.
  Result<Events> turn(const Command& command);
  void pass(Duration duration, Random& random);
  void restart_coordinator(Duration down, Random& random);
  void jump_clock(Duration by);
  // An older copy of the database is restored: the coordinator knows what it knew then, the nodes go on.
  void restore(const SimCluster& copy, Random& random);

  // With what a store would tell of a job that has ended.
  RequeueJob requeue(JobId job) const;

  const ClusterState& state() const { return state_; }
  std::vector<SimNode>& nodes() { return nodes_; }
  Time now() const { return truth_ + skew_; }
  const Events& log() const { return log_; }
  // What waiting jobs wait for, and after how many events of the log it was told.
  const std::vector<std::pair<std::size_t, WaitMark>>& waits() const { return waits_; }
  const std::map<JobId, JobState>& ended() const { return ended_; }
  const std::set<JobId>& tracked() const { return tracked_; }
  int jobs_held_back() const { return jobs_held_back_; }  // that nodes know to have ended

  // Empty while all is well.
  const std::string& violation() const { return violation_; }
  void check_replay();
  // What led to a violation.
  std::string last_events() const;
  // The jobs that live and why they wait.
  std::string describe_jobs() const;

 private:
  ClusterState empty_state() const;
  void tell_waits(std::size_t first_event);
  std::map<JobId, std::string> waits_told() const;
  void absorb(const Events& events);
  void check_event(const Event& event);
  void check_number(JobId given);
  void hold_back(const Job& job);
  void check_restored(const Event& event);
  void check_start(const AttemptCreated& created, Time at);
  void check_limits(const Job& starts, int devices);
  void check_size(const Job& starts, int devices);
  void follow_resize(const Event& event);
  void check_resize(const Job& job, const Resize& resize);
  void check_promises();
  void check_blame(const NodeDrained& drained);
  void follow_deadlines(const Event& event);
  void check_deadlines();
  void check_growth(const Plan& plan);
  void check_preemption(const AttemptStopping& stopping);
  int held_by(const std::string& account, const std::string& kind, bool leaving) const;
  void check_plan(const Plan& plan);
  void check_carried_out(const Plan& plan);
  void check_orders();
  void check_grants();
  void check_indexes();
  void check_reservation(const Node& node, const JobRequest& request, Time at);
  void check_place(const JobRequest& request, const Allocation& allocation);
  void check_pools();
  void check_pool(const PoolKey& key, const DevicePool& pool, const Node& node);
  void violate(const std::string& what);

  ClusterState state_;
  Plan plan_;  // the last
  Time planned_at_;
  std::vector<SimNode> nodes_;
  Events log_;
  WaitLog wait_log_;
  std::vector<std::pair<std::size_t, WaitMark>> waits_;
  std::map<JobId, JobState> ended_;
  std::map<JobId, std::vector<Dependency>> after_;  // as they were submitted
  std::map<JobId, JobQueued> requests_;
  std::map<JobId, int> last_attempt_;
  std::set<JobId> held_;
  std::set<JobId> tracked_;  // runs of programs elsewhere
  JobId recorded_{0};        // the highest number that was given, beside the database
  JobId lost_{0};            // those up to it were given by a database that is no more, as the record says
  std::map<JobId, int> promised_;  // devices of jobs that stopped to run on so many
  std::map<NodeId, NodeOrders> orders_;
  // By true time, of jobs that must start or leave, and since when each node has had every chance to obey.
  std::map<JobId, Time> starting_, stopping_;
  std::map<NodeId, Time> obeys_since_;
  Time restarted_;
  Time truth_ = from_millis(1'700'000'000'000);
  Duration skew_{0};
  bool restored_ = false;
  std::set<JobId> held_back_;  // jobs that ended after the copy was taken, as nodes know: none runs again
  int jobs_held_back_ = 0;
  std::string violation_;
};

}  // namespace podium::sim
