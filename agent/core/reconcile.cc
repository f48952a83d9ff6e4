#include "agent/core/reconcile.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestLeave = 30s;  // what the coordinator allows for after the lease

class Reconciliation {
 public:
  Reconciliation(const NodeOrders& orders, const ProcessTable& table, Time now)
      : orders_(orders), table_(table), now_(now) {
    for (const TaskOrder& order : orders.tasks) ordered_.emplace(order.launch.task, &order);
  }

  Actions run() && {
    for (const auto& [task, process] : table_.processes) settle(task, process);
    for (const auto& [task, order] : ordered_)
      if (!table_.processes.contains(task)) begin(*order);
    return std::move(actions_);
  }

 private:
  // A task of the table: keep it, stop it or forget it.
  void settle(TaskId task, const Process& process) {
    const auto found = ordered_.find(task);
    const TaskOrder* order = found == ordered_.end() ? nullptr : found->second;
    const bool dropped = !order && orders_.version > 0;
    if (process.state == TaskState::exited) {
      if (dropped && process.delivered) actions_.list.push_back(Forget{task});
      return;
    }
    if (dropped) return kill(task, process, "its orders no longer hold it");
    if (process.stopping == Stopping::terminating) return kill_when_due(task, process, process.kill_at);
    if (process.stopping == Stopping::killing) return;

    const Duration grace = order ? order->launch.grace : kLongestLeave;
    if (order && order->action == TaskAction::stop)
      return terminate(task, now_ + grace, "its orders say stop");
    const LeaseDeadlines lease = lease_deadlines(table_.last_sync, orders_.lease, grace);
    if (now_ >= lease.terminate)
      return terminate(task, lease.kill, "the coordinator has been silent for too long");
    wake_at(lease.terminate);
  }

  // An order without a task: start it, refuse it or wait.
  void begin(const TaskOrder& order) {
    const TaskId task = order.launch.task;
    if (order.action == TaskAction::stop) return refuse(task, {0, SIGTERM, "stopped before it was started"});
    const std::int32_t newest = newest_attempt(task.attempt.job);
    if (task.attempt.number < newest)
      return refuse(task, {0, SIGKILL,
                           "not started: this node has seen attempt " + std::to_string(newest) +
                               " of its job, which is newer"});
    if (was_forgotten(task))
      return refuse(task, {0, SIGKILL, "not started: this node has run this attempt before"});
    const LeaseDeadlines lease = lease_deadlines(table_.last_sync, orders_.lease, order.launch.grace);
    if (now_ >= lease.terminate) return;
    if (must_wait(order.launch)) return;
    if (!claimed_.emplace(order.launch.device_kind, order.launch.device_index).second) return;
    wake_at(lease.terminate);
    actions_.list.push_back(Start{order.launch, visible_devices(task.attempt)});
  }

  std::int32_t newest_attempt(JobId job) const {
    std::int32_t newest = 0;
    if (const auto found = table_.forgotten.find(job); found != table_.forgotten.end())
      newest = found->second;
    for (auto it = table_.processes.lower_bound(TaskId{{job, 0}, 0});
         it != table_.processes.end() && it->first.attempt.job == job; ++it)
      newest = std::max(newest, it->first.attempt.number);
    for (const TaskOrder& order : orders_.tasks)
      if (order.launch.task.attempt.job == job) newest = std::max(newest, order.launch.task.attempt.number);
    return newest;
  }

  bool was_forgotten(TaskId task) const {
    const auto found = table_.forgotten.find(task.attempt.job);
    return found != table_.forgotten.end() && task.attempt.number <= found->second;
  }

  // Until the exit of whatever stands in the way, or a look that finds the device free: either brings the
  // next reconcile.
  bool must_wait(const Launch& launch) const {
    if (launch.device_kind == "gpu" && table_.occupied_gpus.contains(launch.device_index)) return true;
    return std::any_of(table_.processes.begin(), table_.processes.end(), [&](const auto& entry) {
      const auto& [task, process] = entry;
      if (process.state == TaskState::exited) return false;
      const bool older = task.attempt.job == launch.task.attempt.job && task.attempt != launch.task.attempt;
      const bool holds_device =
          process.device_kind == launch.device_kind && process.device_index == launch.device_index;
      return older || holds_device;
    });
  }

  std::vector<int> visible_devices(AttemptId attempt) const {
    std::map<int, int> by_local_rank;
    for (const TaskOrder& order : orders_.tasks)
      if (order.launch.task.attempt == attempt)
        by_local_rank[order.launch.local_rank] = order.launch.device_index;
    std::vector<int> devices;
    for (const auto& [local_rank, index] : by_local_rank) devices.push_back(index);
    return devices;
  }

  void refuse(TaskId task, TaskExit exit) { actions_.list.push_back(Refuse{task, std::move(exit)}); }

  void terminate(TaskId task, Time kill_at, std::string reason) {
    actions_.list.push_back(Terminate{task, kill_at, std::move(reason)});
    wake_at(kill_at);
  }

  void kill_when_due(TaskId task, const Process& process, Time due) {
    if (now_ < due) return wake_at(due);
    kill(task, process, "it did not leave within its grace period");
  }

  void kill(TaskId task, const Process& process, std::string reason) {
    if (process.stopping != Stopping::killing) actions_.list.push_back(Kill{task, std::move(reason)});
  }

  void wake_at(Time time) { actions_.wake_at = std::min(actions_.wake_at.value_or(time), time); }

  const NodeOrders& orders_;
  const ProcessTable& table_;
  const Time now_;
  std::map<TaskId, const TaskOrder*> ordered_;
  std::set<std::pair<std::string, int>> claimed_;  // devices of the tasks started in this run
  Actions actions_;
};

}  // namespace

LeaseDeadlines lease_deadlines(Time last_sync, Duration lease, Duration grace) {
  const Time terminate = last_sync + lease;
  return {terminate, terminate + std::min(grace, kLongestLeave)};
}

Actions reconcile(const NodeOrders& orders, const ProcessTable& table, Time now) {
  return Reconciliation(orders, table, now).run();
}

}  // namespace podium
