// The rules at the top of reconcile.h, in random worlds.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/agent/core/reconcile_fixture.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

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
      const bool killed =
          process.stopping == Stopping::destroying || (process.stopping == Stopping::killing && pick(4) != 0);
      const bool leaves = killed || pick(process.stopping == Stopping::none ? 20 : 3) == 0;
      if (process.state != TaskState::exited && leaves) process.state = TaskState::exited;
      if (process.state == TaskState::exited && pick(3) == 0) process.delivered = true;
    }
    if (pick(30) == 0) restart_agent();
    apply(look(orders_, table_, now_));
    apply(look(orders_, table_, now_));  // forgetting a task may let others be refused
    EXPECT_EQ(text_of(look(orders_, table_, now_)), "") << "not at rest after two looks";
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
      orders_.tasks.push_back(order_of(pick(4) == 0 ? TaskAction::stop : TaskAction::start, task, pick(3)));
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
      return entry.second.state != TaskState::exited && entry.second.stopping != Stopping::destroying;
    });
    EXPECT_EQ(actions.wake_at.has_value(), any);
  }

  void apply(const StartTask& start) {
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

  void apply(const RefuseTask& refuse) {
    EXPECT_FALSE(started_.contains(refuse.task) && table_.processes.contains(refuse.task));
    Process process = process_in(TaskState::exited);
    process.delivered = true;
    table_.processes[refuse.task] = process;
  }

  void apply(const TerminateTask& terminate) {
    Process& process = table_.processes.at(terminate.task);
    EXPECT_EQ(process.stopping, Stopping::none);
    EXPECT_NE(process.state, TaskState::exited);
    EXPECT_LE(terminate.kill_at, now_ + 40s);
    process.stopping = Stopping::terminating;
    process.next_at = terminate.kill_at;
    if (process.next_at <= now_) apply(KillTask{terminate.task, now_ + 5s, ""});
  }

  void apply(const DestroyTask& destroy) {
    Process& process = table_.processes.at(destroy.task);
    EXPECT_TRUE(process.stopping == Stopping::killing && process.next_at <= now_);
    process.stopping = Stopping::destroying;
  }

  void apply(const KillTask& kill) {
    Process& process = table_.processes.at(kill.task);
    const bool dropped = std::none_of(orders_.tasks.begin(), orders_.tasks.end(),
                                      [&](const TaskOrder& order) { return order.launch.task == kill.task; });
    const AttemptId its = kill.task.attempt;
    const bool passed = std::any_of(orders_.tasks.begin(), orders_.tasks.end(), [&](const TaskOrder& order) {
      const AttemptId other = order.launch.task.attempt;
      return other.job == its.job && other.number > its.number;
    });
    EXPECT_TRUE(dropped || passed || (process.stopping == Stopping::terminating && process.next_at <= now_))
        << to_string(kill.task) << " killed without its grace period";
    process.stopping = Stopping::killing;
    process.next_at = kill.destroy_at;
  }

  void apply(const ForgetTask& forget) {
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
