// A node with its agent and processes, as they are in truth: what the coordinator believes of it may be late
// or wrong. Follows the agent's contract: a task starts at most once, orders it lacks are killed, and without
// an answer for the length of the lease everything is stopped.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/sync.h"
#include "tests/sim/random.h"

namespace podium::sim {

struct Process {
  TaskState state = TaskState::running;
  std::vector<int> devices;
  std::int64_t pid = 0;
  std::optional<TaskExit> exit;
  Time begins;       // when it runs, once it is starting
  Time leaves;       // when it ends by itself, or by the signal on its way
  TaskExit leaving;  // and how
  bool stopping = false;
  bool stuck = false;  // no signal ends it
};

class SimNode {
 public:
  SimNode(NodeDescription description, Duration lease)
      : description_(std::move(description)), lease_(lease) {}

  // The world's time passes: processes end, leases run out.
  void pass(Time truth, Random& random);

  NodeReport report();
  void take_orders(const NodeOrders& orders, Time truth, Random& random);

  bool reachable() const { return agent_alive_ && connected_ && powered_; }
  void connect(bool connected) {
    connected_ = connected;
    mislaid_reports_ = 0;
  }
  void crash_agent() { agent_alive_ = false; }
  void restart_agent();
  // The same on an empty disk: processes and the memory of them are gone.
  void replace_machine();
  // For a few reports, fewer than make the core give them up, the agent lists none of its tasks. Ends with
  // its connection: what runs on a node that the core gave up must be in the first report that follows.
  void mislay_tasks(Random& random) { mislaid_reports_ = random.between(1, 5); }
  void lose_power();  // every process is gone; comes back with restart_agent
  void fail_process(Random& random);
  // No signal ends one of its processes any more, until the machine is started anew.
  void stick_process(Random& random);
  bool has_stuck_process() const;
  // Somebody else uses its devices: what it is told to start waits.
  void occupy(bool occupied) { occupied_ = occupied; }
  void set_health(const std::string& health);
  void list_all_tasks() { mislaid_reports_ = 0; }

  const NodeDescription& description() const { return description_; }
  const std::map<TaskId, Process>& processes() const { return processes_; }
  // The newest attempt of a job that it was given, and of which it has forgotten a task; 0: none.
  std::int32_t newest_seen(JobId job) const;
  std::int32_t newest_forgotten(JobId job) const;
  // A device had two live processes at once: the worst thing that can happen.
  const std::string& crime() const { return crime_; }

 private:
  void start(const TaskOrder& order, Time truth, Random& random);
  bool stages(TaskId task, Random& random);
  void refuse(const TaskOrder& order);
  // It leaves within its grace period.
  void stop(Process& process, Time truth, Random& random, Duration grace = std::chrono::seconds(20));

  NodeDescription description_;
  Duration lease_;
  std::map<TaskId, Process> processes_;
  std::set<TaskId> started_;
  std::map<JobId, std::int32_t> forgotten_;  // the newest attempt of each job
  std::set<TaskId> parked_;                  // of a time that the coordinator does not know
  std::map<TaskId, int> staging_;            // tasks that wait for inputs, and for how many orders more
  bool agent_alive_ = true;
  bool connected_ = true;
  bool powered_ = true;
  bool occupied_ = false;
  int boots_ = 1;
  int mislaid_reports_ = 0;
  std::int64_t next_pid_ = 100;
  std::int64_t orders_seen_ = 0;
  Time answered_;
  std::string crime_;
};

}  // namespace podium::sim
