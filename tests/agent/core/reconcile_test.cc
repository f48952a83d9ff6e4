#include "agent/core/reconcile.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>
#include <string>

#include "tests/agent/core/orders.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow{1'000'000ms};

// "start 1.1.0; kill 2.1.0": actions as one line of text.
std::string text_of(const Action& action) {
  struct Visitor {
    std::string operator()(const Start& a) const { return "start " + to_string(a.launch.task); }
    std::string operator()(const Refuse& a) const { return "refuse " + to_string(a.task); }
    std::string operator()(const Terminate& a) const { return "terminate " + to_string(a.task); }
    std::string operator()(const Kill& a) const { return "kill " + to_string(a.task); }
    std::string operator()(const Forget& a) const { return "forget " + to_string(a.task); }
  };
  return std::visit(Visitor{}, action);
}

std::string text_of(const Actions& actions) {
  std::string text;
  for (const Action& action : actions.list) text += (text.empty() ? "" : "; ") + text_of(action);
  return text;
}

ProcessTable table_of(std::map<TaskId, Process> processes) {
  ProcessTable table;
  table.processes = std::move(processes);
  table.last_sync = kNow;
  return table;
}

Process exited(bool delivered) {
  Process process = process_in(TaskState::exited);
  process.delivered = delivered;
  return process;
}

Process terminating(Time kill_at) {
  Process process = process_in(TaskState::running);
  process.stopping = Stopping::terminating;
  process.kill_at = kill_at;
  return process;
}

struct Case {
  const char* name;
  std::vector<TaskOrder> orders;
  std::map<TaskId, Process> processes;
  const char* expected;
};

const TaskId kTask = task_id(1, 1);
const Process kRunning = process_in(TaskState::running);
const TaskOrder kRun = order_of(TaskAction::run, kTask);
const TaskOrder kStop = order_of(TaskAction::stop, kTask);

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"nothing", {}, {}, ""},
      {"starts what is ordered", {kRun}, {}, "start 1.1.0"},
      {"leaves what runs", {kRun}, {{kTask, kRunning}}, ""},
      {"never starts what has exited", {kRun}, {{kTask, exited(true)}}, ""},
      {"asks before it kills", {kStop}, {{kTask, kRunning}}, "terminate 1.1.0"},
      {"asks a task that is just starting",
       {kStop},
       {{kTask, process_in(TaskState::starting)}},
       "terminate 1.1.0"},
      {"waits out the grace period", {kStop}, {{kTask, terminating(kNow + 1ms)}}, ""},
      {"kills after it", {kStop}, {{kTask, terminating(kNow)}}, "kill 1.1.0"},
      {"goes on stopping when told to run again", {kRun}, {{kTask, terminating(kNow)}}, "kill 1.1.0"},
      {"kills what the orders dropped", {}, {{kTask, kRunning}}, "kill 1.1.0"},
      {"kills it though it was asked to leave", {}, {{kTask, terminating(kNow + 10s)}}, "kill 1.1.0"},
      {"keeps an exit the coordinator has not dropped", {kRun}, {{kTask, exited(false)}}, ""},
      {"keeps what is not delivered", {}, {{kTask, exited(false)}}, ""},
      {"forgets what is dropped and delivered", {}, {{kTask, exited(true)}}, "forget 1.1.0"},
      {"answers a stop for what it never had", {kStop}, {}, "refuse 1.1.0"},
      {"fences by attempt",
       {order_of(TaskAction::run, task_id(1, 2))},
       {{task_id(1, 3), kRunning}},
       "kill 1.3.0; refuse 1.2.0"},
      {"fences by an exited attempt too",
       {order_of(TaskAction::run, task_id(1, 2)), order_of(TaskAction::run, task_id(1, 3))},
       {{task_id(1, 3), exited(false)}},
       "refuse 1.2.0"},
      {"fences attempts ordered together",
       {order_of(TaskAction::run, task_id(1, 1)), order_of(TaskAction::run, task_id(1, 2))},
       {},
       "refuse 1.1.0; start 1.2.0"},
      {"waits for the older attempt to be gone",
       {order_of(TaskAction::run, task_id(1, 2), 1)},
       {{kTask, kRunning}},
       "kill 1.1.0"},
      {"starts the next attempt after it",
       {order_of(TaskAction::run, task_id(1, 2))},
       {{kTask, exited(true)}},
       "forget 1.1.0; start 1.2.0"},
      {"waits for the device",
       {order_of(TaskAction::run, task_id(2, 1), 0)},
       {{kTask, kRunning}},
       "kill 1.1.0"},
      {"uses another device at once",
       {kRun, order_of(TaskAction::run, task_id(2, 1), 1)},
       {{kTask, kRunning}},
       "start 2.1.0"},
      {"gives a device once",
       {order_of(TaskAction::run, task_id(1, 1)), order_of(TaskAction::run, task_id(2, 1))},
       {},
       "start 1.1.0"},
      {"starts a gang whole",
       {order_of(TaskAction::run, task_id(1, 1, 0), 0), order_of(TaskAction::run, task_id(1, 1, 1), 1)},
       {},
       "start 1.1.0; start 1.1.1"},
  };
  return all;
}

TEST(Reconcile, Cases) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(text_of(reconcile(orders_of(one.orders), table_of(one.processes), kNow)), one.expected);
  }
}

TEST(Reconcile, NeverStartsAnAttemptItHasForgotten) {
  ProcessTable table = table_of({});
  table.forgotten[{1}] = 2;
  const auto ordered = [&](int attempt) {
    return text_of(reconcile(orders_of({order_of(TaskAction::run, task_id(1, attempt))}), table, kNow));
  };
  EXPECT_EQ(ordered(1), "refuse 1.1.0");
  EXPECT_EQ(ordered(2), "refuse 1.2.0");
  EXPECT_EQ(ordered(3), "start 1.3.0");
}

TEST(Reconcile, KeepsItsTasksUntilItHasHeardTheFirstOrders) {
  EXPECT_EQ(
      text_of(reconcile(NodeOrders{}, table_of({{kTask, kRunning}, {task_id(2, 1), exited(true)}}), kNow)),
      "");
}

TEST(Reconcile, StopsTasksWhenTheLeaseRunsOut) {
  const NodeOrders orders = orders_of({kRun});
  const ProcessTable table = table_of({{kTask, kRunning}});
  const Time end = kNow + orders.lease;
  const Actions before = reconcile(orders, table, end - 1ms);
  EXPECT_EQ(text_of(before), "");
  EXPECT_EQ(before.wake_at, end);
  const Actions after = reconcile(orders, table, end);
  ASSERT_EQ(text_of(after), "terminate 1.1.0");
  EXPECT_EQ(std::get<Terminate>(after.list[0]).kill_at, end + 30s);
  EXPECT_EQ(after.wake_at, end + 30s);
}

TEST(Reconcile, ALeaseIsWatchedFromTheStart) {
  EXPECT_EQ(reconcile(orders_of({kRun}), table_of({}), kNow).wake_at, kNow + 60s);
}

TEST(Reconcile, LeaseAllowsNoLongerGraceThanTheCoordinatorWaits) {
  EXPECT_EQ(lease_deadlines(kNow, 60s, 2h).kill, kNow + 90s);
  EXPECT_EQ(lease_deadlines(kNow, 60s, 5s).kill, kNow + 65s);
}

TEST(Reconcile, StartsNothingAfterTheLease) {
  EXPECT_EQ(text_of(reconcile(orders_of({kRun}), table_of({}), kNow + 60s)), "");
}

TEST(Reconcile, LeaseAlsoHoldsForTasksFoundAfterARestart) {
  EXPECT_EQ(text_of(reconcile(NodeOrders{}, table_of({{kTask, kRunning}}), kNow + 60s)), "terminate 1.1.0");
}

TEST(Reconcile, StopGivesTheOrdersGracePeriod) {
  TaskOrder stop = kStop;
  stop.launch.grace = 7s;
  const Actions actions = reconcile(orders_of({stop}), table_of({{kTask, kRunning}}), kNow);
  ASSERT_EQ(text_of(actions), "terminate 1.1.0");
  EXPECT_EQ(std::get<Terminate>(actions.list[0]).kill_at, kNow + 7s);
  EXPECT_EQ(actions.wake_at, kNow + 7s);
}

TEST(Reconcile, RefusalsSayHowTheTaskEnded) {
  const Actions actions = reconcile(orders_of({kStop}), table_of({}), kNow);
  EXPECT_EQ(std::get<Refuse>(actions.list.at(0)).exit,
            (TaskExit{0, SIGTERM, "stopped before it was started"}));
}

TEST(Reconcile, AnOccupiedGpuWaitsUntilItIsFree) {
  TaskOrder order = order_of(TaskAction::run, task_id(1, 1), 3);
  ProcessTable table = table_of({});
  table.occupied_gpus = {3};
  EXPECT_EQ(text_of(reconcile(orders_of({order}), table, kNow)), "start 1.1.0")
      << "it is not about CPU slots";
  order.launch.device_kind = "gpu";
  EXPECT_EQ(text_of(reconcile(orders_of({order}), table, kNow)), "");
  table.occupied_gpus = {2};
  EXPECT_EQ(text_of(reconcile(orders_of({order}), table, kNow)), "start 1.1.0");
}

TEST(Reconcile, StartsSeeTheDevicesOfTheirNodeByLocalRank) {
  TaskOrder first = order_of(TaskAction::run, task_id(1, 1, 0), 5);
  TaskOrder second = order_of(TaskAction::run, task_id(1, 1, 1), 2);
  second.launch.local_rank = 1;
  const Actions actions = reconcile(orders_of({second, first}), table_of({}), kNow);
  ASSERT_EQ(actions.list.size(), 2U);
  EXPECT_THAT(std::get<Start>(actions.list[0]).visible_devices, testing::ElementsAre(5, 2));
}

// A node under random orders, exits, outages and agent restarts. What reconcile asks for is done at once, and
// the rules at the top of reconcile.h are checked as it is.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) { table_.last_sync = now_; }

  void step() {
    now_ += Duration(pick(20'000));
    if (pick(10) != 0) {
      table_.last_sync = now_;
      if (pick(3) == 0) new_orders();
    }
    for (auto& [task, process] : table_.processes) {
      if (process.state == TaskState::starting && pick(2) == 0) process.state = TaskState::running;
      const bool leaves =
          process.stopping == Stopping::killing || pick(process.stopping == Stopping::none ? 20 : 3) == 0;
      if (process.state != TaskState::exited && leaves) process.state = TaskState::exited;
      if (process.state == TaskState::exited && pick(3) == 0) process.delivered = true;
    }
    if (pick(30) == 0) restart_agent();
    apply(reconcile(orders_, table_, now_));
    apply(reconcile(orders_, table_, now_));  // forgetting a task may let others be refused
    EXPECT_EQ(text_of(reconcile(orders_, table_, now_)), "") << "not at rest after two looks";
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void new_orders() {
    orders_ = orders_of({});
    orders_.version = ++version_;
    std::set<TaskId> used;
    for (int count = pick(5); count > 0; --count) {
      const TaskId task = task_id(1 + pick(3), 1 + pick(6), pick(2));
      if (!used.insert(task).second) continue;
      orders_.tasks.push_back(order_of(pick(4) == 0 ? TaskAction::stop : TaskAction::run, task, pick(3)));
      orders_.tasks.back().launch.grace = Duration(pick(40'000));
    }
  }

  // Everything but what is on disk is lost.
  void restart_agent() {
    orders_ = {};
    table_.last_sync = now_;
    std::erase_if(table_.processes, [&](const auto& entry) { return !started_.contains(entry.first); });
    for (auto& [task, process] : table_.processes) process.stopping = Stopping::none;
  }

  void apply(const Actions& actions) {
    for (const Action& action : actions.list) std::visit([this](const auto& one) { apply(one); }, action);
    expect_watched(actions);
    EXPECT_GT(actions.wake_at.value_or(Time::max()), now_);
  }

  // Silence from here on ends with every task stopped: reconcile asks to be called again until then.
  void expect_watched(const Actions& actions) const {
    const bool any = std::any_of(table_.processes.begin(), table_.processes.end(), [](const auto& entry) {
      return entry.second.state != TaskState::exited && entry.second.stopping != Stopping::killing;
    });
    EXPECT_EQ(actions.wake_at.has_value(), any);
  }

  void apply(const Start& start) {
    const TaskId task = start.launch.task;
    EXPECT_TRUE(started_.insert(task).second) << to_string(task) << " started twice";
    EXPECT_GE(task.attempt.number, newest_[task.attempt.job]) << to_string(task) << " is fenced";
    EXPECT_LT(now_, table_.last_sync + orders_.lease) << "started without a lease";
    for (const auto& [other, process] : table_.processes) {
      if (process.state == TaskState::exited) continue;
      EXPECT_NE(process.device_index, start.launch.device_index) << "device of " << to_string(other);
      EXPECT_FALSE(other.attempt.job == task.attempt.job && other.attempt != task.attempt);
    }
    newest_[task.attempt.job] = task.attempt.number;
    table_.processes[task] = process_in(TaskState::starting, start.launch.device_index);
  }

  void apply(const Refuse& refuse) {
    EXPECT_FALSE(started_.contains(refuse.task) && table_.processes.contains(refuse.task));
    Process process = process_in(TaskState::exited);
    process.delivered = true;
    table_.processes[refuse.task] = process;
  }

  void apply(const Terminate& terminate) {
    Process& process = table_.processes.at(terminate.task);
    EXPECT_EQ(process.stopping, Stopping::none);
    EXPECT_NE(process.state, TaskState::exited);
    EXPECT_LE(terminate.kill_at, now_ + 40s);
    process.stopping = Stopping::terminating;
    process.kill_at = terminate.kill_at;
    if (process.kill_at <= now_) apply(Kill{terminate.task, ""});
  }

  void apply(const Kill& kill) {
    Process& process = table_.processes.at(kill.task);
    const bool dropped = std::none_of(orders_.tasks.begin(), orders_.tasks.end(),
                                      [&](const TaskOrder& order) { return order.launch.task == kill.task; });
    EXPECT_TRUE(dropped || (process.stopping == Stopping::terminating && process.kill_at <= now_))
        << to_string(kill.task) << " killed without its grace period";
    process.stopping = Stopping::killing;
  }

  void apply(const Forget& forget) {
    const Process& process = table_.processes.at(forget.task);
    EXPECT_TRUE(process.state == TaskState::exited && process.delivered);
    std::int32_t& fence = table_.forgotten[forget.task.attempt.job];
    fence = std::max(fence, forget.task.attempt.number);
    table_.processes.erase(forget.task);
  }

  std::mt19937 random_;
  Time now_ = kNow;
  std::int64_t version_ = 0;
  NodeOrders orders_;
  ProcessTable table_;
  std::set<TaskId> started_;
  std::map<JobId, std::int32_t> newest_;
};

TEST(Reconcile, KeepsItsRulesInRandomWorlds) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int i = 0; i < 300; ++i) world.step();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace podium
