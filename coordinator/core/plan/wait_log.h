// What each waiting job waits for, as it changes: the code of its first blocker, for the ledger of its time
// (coordinator/tracking/ledger.h). Pure; looked at in every turn. What a turn costs depends on how many jobs
// it touched and on how many a plan has tried, not on how many wait: a job that no plan tried waits in the
// queue.
//
// A wait that begins, and one that a person, a dependency or a back-off changes, is told at once. What plans
// find may flicker: it is told, from when it began, once it has stood for ten seconds and for a 200th of the
// time that the job has waited. So a job's wait makes a few thousand marks at most, however long it is.
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
  // The codes told last, of jobs that wait.
  explicit WaitLog(std::map<JobId, std::string> told) : told_(std::move(told)) {}

  // After a turn: `events` are all of it, `planned` whether `plan` was made in it.
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
  std::map<JobId, Pending> pending_;  // found by plans, and not told yet
  std::set<JobId> tried_;             // that the last plan found blocked
  std::set<JobId> backing_off_;
  bool looked_ = false;          // at every job that waits, with a plan
  std::vector<WaitMark> marks_;  // of this turn
};

// The code of what `podium why` names first: BlockerCode::queue where no plan came to the job.
BlockerCode waits_for(const ClusterState& state, const Plan& plan, const Job& job, Time now);

}  // namespace podium
