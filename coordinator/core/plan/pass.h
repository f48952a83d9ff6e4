// One pass over the queue of one kind, best job first, until nothing more can start. Its decisions go into
// the plan's buckets. Earlier steps have priority over later ones:
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

// The job classes of which no further job can start in this pass, and why: one of their jobs was tried. While
// nodes are reserved for accounts, a job stands for its class alone, otherwise for all classes of its shape.
class ClosedClasses {
 public:
  explicit ClosedClasses(const ClusterState& state);

  bool empty() const { return closed_.empty(); }
  const Blocker* find(const JobClass& job_class) const;
  void close(const JobClass& job_class, const Blocker& why) { closed_.try_emplace(key(job_class), why); }
  // Counts a job that only reservations keep from starting; returns how many there are.
  int count_kept_back(const JobClass& job_class) { return ++kept_back_[key(job_class)]; }

 private:
  JobClass key(const JobClass& job_class) const;

  bool by_account_;
  std::map<JobClass, Blocker> closed_;
  std::map<JobClass, int> kept_back_;
};

class Pass {
 public:
  // `granted`: what the passes before this one granted; this pass adds to it.
  Pass(const ClusterState& state, const std::string& kind, Time now, Plan& plan, Granted& granted);
  Pass(const Pass&) = delete;  // its parts refer to one another

  void run();

 private:
  // Which jobs may be tried after this one.
  enum class Next { its_class, other_classes, nobody };

  void resume_resized();
  void resume(const Job& job);
  void walk_queue();
  Next consider(const Job& job, const JobClass& job_class, int quota_depth);
  DevicePool apart(const DevicePool& around, const Job& job) const;
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
  std::set<JobId> resumed_;  // resized jobs that this pass started
  bool starved_ = false;     // a job waits for devices
};

}  // namespace podium
