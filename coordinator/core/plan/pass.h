// One pass over one kind's queue, best job first, until nothing more can start: what it decides goes into the
// plan's buckets. The order of its steps is the order of who goes first:
//
//   jobs that stopped for another size   start on the devices set aside for them
//   the queue (quota_walk.h)             each job starts where its gang fits (gang_fit.h), or waits: then
//                                        room is made for it (room_maker.h) and its start is promised
//                                        (reservations.h), and others pass it that delay no promise
//                                        (backfill)
//   elastic jobs                         grow, where no job waits for devices
#pragma once

#include <map>
#include <set>
#include <string>

#include "coordinator/core/plan/gang_fit.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/quota_walk.h"
#include "coordinator/core/plan/remaining.h"
#include "coordinator/core/plan/room_maker.h"

namespace podium {

// The classes of which a job showed that no other can start in this pass, and why. While nodes are reserved
// for accounts it speaks for its class alone; else for all of its shape.
class ClosedClasses {
 public:
  explicit ClosedClasses(const ClusterState& state);

  bool empty() const { return closed_.empty(); }
  const Blocker* find(const JobClass& job_class) const;
  void close(const JobClass& job_class, const Blocker& why) { closed_.try_emplace(key(job_class), why); }
  // How many jobs did not start for the reservations alone, with this one.
  int count_kept_back(const JobClass& job_class) { return ++kept_back_[key(job_class)]; }

 private:
  JobClass key(const JobClass& job_class) const;

  bool by_account_;
  std::map<JobClass, Blocker> closed_;
  std::map<JobClass, int> kept_back_;
};

class Pass {
 public:
  // `granted`: by the passes before it.
  Pass(const ClusterState& state, const std::string& kind, Time now, Plan& plan, Granted& granted);
  Pass(const Pass&) = delete;  // its parts refer to one another

  void run();

 private:
  // Who may be tried after a job.
  enum class Next { its_class, other_classes, nobody };

  void resume_resized();
  void resume(const Job& job);
  void walk_queue();
  Next consider(const Job& job, const JobClass& job_class, int quota_depth);
  Next wait(const Job& job, const JobClass& job_class, const DevicePool& around, int quota_depth);
  void grow();

  void start(const Job& job, const NodeSlices& slices, Time end);
  void promise(const Job& job, const DevicePool& around, int quota_depth);
  bool may_promise() const;
  const Blocker* closed(const JobClass& job_class, int quota_depth) const;

  const ClusterState& state_;
  const Policy& policy_;
  Time now_;
  Plan& plan_;
  Granted& granted_;
  Remaining remaining_;
  GangFit gang_fit_;
  RoomMaker room_;
  ClosedClasses closed_;
  std::set<JobId> resumed_;  // started with their new size
  bool starved_ = false;     // a job waits for devices
};

}  // namespace podium
