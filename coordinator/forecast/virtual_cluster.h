// A virtual clock around the very core: given how much work each job still has to do, it jumps from one
// moment to the next (a submission, the end of a job, a time the plan asked for) and lets handle, make_plan,
// enact and apply decide what happens, as the coordinator's loop would. Nodes never fall silent, start what
// they are told at once and report it. What nobody ordered stays where it is, for when it ends is not known,
// and its node gets no work. Deterministic; a step costs by what happens in it, not by how many nodes or jobs
// there are.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "coordinator/core/handle.h"
#include "coordinator/core/plan/plan.h"

namespace podium {

// What happens to jobs besides the scheduler's decisions.
struct RunModel {
  // The work a job has done since a multiple of this is lost when it is stopped to make room, as a whole or
  // in part; 0: none is. A job that grows does so at a checkpoint and loses none.
  Duration checkpoint_every = std::chrono::minutes(30);
  // From the order to stop until the tasks have left. At least 1 ms, so that jobs that stop one another in
  // turn do not hold the clock.
  Duration stop_takes = std::chrono::seconds(30);

  bool operator==(const RunModel&) const = default;
};

class VirtualCluster {
 public:
  // How long a job would run from now on, on the devices it has or may start on, if nothing stopped it. An
  // elastic job is as much faster as it has more devices.
  using Work = std::function<Duration(const Job&)>;
  // Called with every event before it is applied: the state still holds the job that ends with it.
  using Observer = std::function<void(const Event&)>;
  // Called with what the coordinator would answer, before it is applied.
  using Answer = std::function<void(const Result<Events>&)>;

  // Goes on from `state` at `now`, which is not before state.clock. `work` is asked once for each of its
  // jobs. Nodes whose silence makes them unknown are taken to be back with the next thing that happens on
  // them.
  VirtualCluster(ClusterState state, Time now, const Work& work, const RunModel& model = {});

  void observe(Observer observer) { observer_ = std::move(observer); }

  // `at` is not before now(); one piece of work for each of the experiment's jobs. At one moment submissions
  // are taken in the order of these calls.
  void submit(Time at, SubmitExperiment experiment, std::vector<Duration> work, Answer answer = {});

  // Jumps to the next moment at which something happens and lives through it; everything that happens at a
  // moment is told before the scheduler looks. False when nothing will ever happen again: jobs that still
  // wait then wait for ever. With a leap it jumps at least so far, and what happens until then happens at
  // that moment: coarser, and as much cheaper as plans are fewer.
  bool step(Duration leap = {});
  // The moment step() would jump to.
  std::optional<Time> next() const;

  Time now() const { return now_; }
  const ClusterState& state() const { return state_; }
  const Plan& plan() const { return plan_; }  // the scheduler's latest

 private:
  struct Run {
    Duration left{};             // device time of its work when it last started or stopped
    std::optional<Time> since;   // its tasks run
    std::optional<Time> leaves;  // its tasks end, finished or stopped
  };
  struct Arrival {
    SubmitExperiment experiment;
    std::vector<Duration> work;
    Answer answer;
  };

  void adopt(const Job& job, Duration work);
  void settle();
  void end_tasks();
  void arrive(Arrival arrival);
  void take(const Command& command);
  void absorb(const Events& events);
  void follow(const Event& event);
  void start_run(const Job& job);
  void stop_run(const Job& job);
  void set_leave(JobId job, Run& run, Time at);
  void call(const Job& job);
  void report_called();
  NodeReport report_of(const Node& node) const;

  ClusterState state_;
  Plan plan_;
  Time now_;
  RunModel model_;
  Observer observer_;
  std::map<JobId, Run> runs_;  // of every job that lives
  std::multimap<Time, Arrival> arrivals_;
  std::set<std::pair<Time, JobId>> leaves_;  // Run::leaves of all of them
  std::set<NodeId> called_;                  // nodes with something to report at this moment
};

}  // namespace podium
