// Makes room for a job that does not fit: elastic jobs shrink or, where that is not enough, running jobs
// stop. Its decisions go into the plan's buckets, and the reservations take them into account.
//
// It serves one job at a time, so that no second job counts on the same devices.
#pragma once

#include <string>
#include <vector>

#include "coordinator/core/plan/elastic.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/remaining.h"
#include "coordinator/core/policies/policy.h"

namespace podium {

class RoomMaker {
 public:
  RoomMaker(const ClusterState& state, Time now, Remaining& remaining, Plan& plan)
      : state_(state),
        policy_(policy_of(state.scheduling.policy)),
        now_(now),
        remaining_(remaining),
        plan_(plan) {}

  // Whether jobs already shrink or leave for a waiting job.
  bool engaged() const { return engaged_; }

  // For a job that a quota covers: borrowed work of other accounts shrinks or stops. Does nothing where the
  // job will fit once the leaving jobs have left. `around`: the pool that the job may use.
  void reclaim(const Job& job, const DevicePool& around);
  // For a job for which the policy may stop others.
  void preempt(const Job& job, const DevicePool& around);

 private:
  // Devices and accounts once all leaving jobs have left.
  struct Outlook {
    DevicePool pool;
    AccountLedger ledger;
  };
  Outlook outlook(const DevicePool& around) const;
  bool shrink(const Job& job, const Outlook& outlook, const MayShrink& may_shrink);
  void stop(const std::vector<JobId>& victims, PreemptionCause cause, const std::string& reason);

  const ClusterState& state_;
  const Policy& policy_;
  Time now_;
  Remaining& remaining_;
  Plan& plan_;
  bool engaged_ = false;
};

}  // namespace podium
