// Records what each waiting job waits for: the code of its first blocker, for the job's ledger
// (coordinator/tracking/ledger.h). Pure; called in every turn. The cost of a turn depends on how many jobs it
// touched and how many a plan tried, not on how many wait: a job that no plan tried waits in the queue.
//
// The beginning of a wait, and a change by a person, a dependency or a back-off, is recorded at once. What
// plans find may flicker: it is recorded, with the time when it began, once it has lasted for ten seconds and
// for a 200th of the job's waiting time. So even a long wait makes a few thousand marks at most.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/plan/plan.h"

namespace podium {

struct WaitMark {
  JobId job;
  Time since;
  std::string code;  // of a blocker

  bool operator==(const WaitMark&) const = default;
};

class WaitLog {
 public:
  WaitLog() = default;
  // `told`: the last recorded codes of waiting jobs.
  explicit WaitLog(std::map<JobId, std::string> told) : told_(std::move(told)) {}

  // Call after each turn: `events` are all its events, `planned` says whether it made `plan`.
  std::vector<WaitMark> look(const ClusterState& state, const Plan& plan, bool planned, const Events& events,
                             Time now);

  static constexpr Duration kStands = std::chrono::seconds(10);
  static constexpr int kPartOfWait = 200;

 private:
  struct Pending {
    std::string code;
    Time since;
  };

  std::set<JobId> touched(const ClusterState& state, const Events& events, Time now);
  void follow(const ClusterState& state, const Plan& plan, Time now);
  void tell_what_stood(const ClusterState& state, Time now);
  void tell(const WaitMark& mark);
  void note(const ClusterState& state, const Plan& plan, JobId job, Time now);

  std::map<JobId, std::string> told_;
  std::map<JobId, Pending> pending_;  // found by plans, not recorded yet
  std::set<JobId> tried_;             // blocked in the last plan
  std::set<JobId> backing_off_;
  bool looked_ = false;          // every waiting job was looked at once, with a plan
  std::vector<WaitMark> marks_;  // of this turn
};

// The code of the first reason that `podium why` gives; BlockerCode::queue where no plan tried the job.
BlockerCode waits_for(const ClusterState& state, const Plan& plan, const Job& job, Time now);

}  // namespace podium
