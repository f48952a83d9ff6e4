// Makes room for a job that does not fit: elastic jobs shrink or, where that is not enough, running jobs
// stop. What it asks to leave goes into the plan's buckets and is expected by the reservations.
//
// For one job at a time: what leaves for it must not be counted on by another.
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

  // Whether jobs shrink or leave for a waiting one already.
  bool engaged() const { return engaged_; }

  // For a job that a quota covers: work that others run beyond theirs shrinks or leaves. Nothing where it
  // will fit in any case once all that leaves has left. `around` is the pool that the job may use.
  void reclaim(const Job& job, const DevicePool& around);
  // For a job that the policy lets take the place of others.
  void preempt(const Job& job, const DevicePool& around);

 private:
  // Devices and accounts as they will be once all that leaves has left.
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
