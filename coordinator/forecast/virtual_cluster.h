// A virtual clock around the real core. Given the remaining work of each job, it jumps from one moment to the
// next (a submission, the end of a job, a time that the plan asks for) and lets handle, make_plan, enact and
// apply decide, as the coordinator's loop does. Nodes never fall silent; they start tasks at once and report
// it. Tasks that no order covers stay, because their end is not known, and their nodes get no work.
// Deterministic. The cost of a step depends on what happens in it, not on the number of nodes or jobs.
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
  // A job that is stopped or shrunk to make room loses its work since the last multiple of this; 0: it loses
  // none. A job grows at a checkpoint and loses none.
  Duration checkpoint_every = std::chrono::minutes(30);
  // From the order to stop until the tasks have left. At least 1 ms, so that jobs that stop one another in
  // turn do not hold the clock.
  Duration stop_takes = std::chrono::seconds(30);

  bool operator==(const RunModel&) const = default;
};

class VirtualCluster {
 public:
  // How long a job would run from now on, on the devices that it has or may start on, if nothing stopped it.
  // The speed of an elastic job is proportional to its devices.
  using Work = std::function<Duration(const Job&)>;
  // Called with every event before it is applied: the state still holds the job that ends with it.
  using Observer = std::function<void(const Event&)>;
  // Called with the coordinator's answer to a submission, before it is applied.
  using Answer = std::function<void(const Result<Events>&)>;

  // Continues from `state` at `now`, which must not be before state.clock. `work` is called once for each of
  // its jobs. Unknown nodes count as up from the next thing that happens on them.
  VirtualCluster(ClusterState state, Time now, const Work& work, const RunModel& model = {});

  void observe(Observer observer) { observer_ = std::move(observer); }

  // `at` must not be before now(). `work` has one entry for each of the experiment's jobs. Submissions of one
  // moment are taken in the order of the calls.
  void submit(Time at, SubmitExperiment experiment, std::vector<Duration> work, Answer answer = {});

  // Jumps to the next moment at which something happens and simulates it; everything that happens at that
  // moment is reported before the scheduler plans. False where nothing will ever happen again: jobs that
  // still wait then wait for ever. With a leap it jumps at least that far, and everything until then happens
  // at that moment, which is coarser and cheaper, because there are fewer plans.
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
