#include "agent/core/reconcile.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "common/model/stopping.h"

namespace podium {
namespace {

using stopping::kShimKillsWithin;

class Reconciliation {
 public:
  Reconciliation(const NodeOrders& orders, const ProcessTable& table, Time now)
      : orders_(orders), table_(table), now_(now) {
    for (const auto& [task, process] : table.processes) {
      see(task.attempt);
      if (process.state == TaskState::exited) continue;
      held_.emplace(process.device_kind, process.device_index);
      for (const int index : process.more_devices) held_.emplace(process.device_kind, index);
      living_[task.attempt.job].insert(task.attempt.number);
    }
    for (const TaskOrder& order : orders.tasks) {
      see(order.launch.task.attempt);
      ordered_.emplace(order.launch.task, &order);
    }
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
      if (dropped && process.delivered) actions_.list.push_back(ForgetTask{task});
      return;
    }
    if (process.stopping == Stopping::destroying) return;
    if (process.stopping == Stopping::killing) return destroy_when_due(task, process);
    if (dropped) return kill(task, "its orders no longer hold it");
    if (fence_of(task.attempt.job).epoch > task.attempt.number)
      return kill(task, "a newer attempt of its job was started elsewhere");
    const Duration leave = lease::leave(orders_.lease);
    const Time end = right_ends(orders_, table_, task);
    const Duration grace = order ? order->launch.grace : leave;
    const bool ordered = order && order->action == TaskAction::stop;
    const bool sooner = ordered && now_ + grace < process.next_at;  // than it was told before
    if (process.stopping == Stopping::terminating && !sooner)
      return kill_when_due(task, std::min(process.next_at, end + leave));

    const auto by = [&](Time kill_at) { return std::min(kill_at, process.kill_by.value_or(kill_at)); };
    if (ordered) return terminate(task, by(now_ + grace), ExitCause::ordered);
    if (table_.leaving) return terminate(task, by(now_ + grace), ExitCause::agent_stopped);
    if (now_ >= end) return terminate(task, by(end + std::min(grace, leave)), ExitCause::lease);
    wake_at(end);
  }

  // An order without a task: start it, refuse it or wait.
  void begin(const TaskOrder& order) {
    const TaskId task = order.launch.task;
    if (order.action == TaskAction::stop)
      return refuse(task, {0, SIGTERM, "stopped before it was started", ExitCause::ordered});
    if (table_.leaving) return refuse(task, {0, 0, "its agent is being stopped", ExitCause::not_started});
    if (order.action == TaskAction::keep)
      return refuse(task, {0, SIGKILL,
                           was_forgotten(task) ? "this or a later attempt has ended here before"
                                               : "the agent's home folder was lost, or is another one",
                           ExitCause::no_record});
    const std::int32_t newest = newest_attempt(task.attempt.job);
    if (task.attempt.number < newest)
      return refuse(
          task, {0, 0, "this node has seen attempt " + std::to_string(newest) + " of its job, which is newer",
                 ExitCause::not_started});
    if (was_forgotten(task))
      return refuse(task, {0, 0, "this node has run this attempt before", ExitCause::not_started});
    const FenceLook fence = fence_of(task.attempt.job);
    if (fence.epoch > task.attempt.number)
      return refuse(task, {0, 0,
                           "attempt " + std::to_string(fence.epoch) +
                               " of its job, which is newer, was started elsewhere",
                           ExitCause::not_started});
    if (!fence.failure.empty())
      return refuse(task,
                    {0, 0, fence.failure, fence.anothers ? ExitCause::refused : ExitCause::not_started});
    const Time lease_end = table_.last_sync + orders_.lease;
    if (now_ >= lease_end || fence.epoch < task.attempt.number) return;
    if (now_ < fence.since + order.wait) return wake_at(fence.since + order.wait);
    if (order.launch.spec.code && !has(table_.code, task)) return;
    if (!order.launch.spec.inputs.empty() && !has(table_.inputs, task)) return;
    if (must_wait(order.launch)) return;
    if (!claim(order.launch)) return;
    wake_at(lease_end);
    actions_.list.push_back(StartTask{order.launch, visible_devices(task.attempt)});
  }

  // Whether the task has what it needs; refuses it where it cannot have it.
  bool has(const std::map<TaskId, std::optional<TaskExit>>& prepared, TaskId task) {
    const auto found = prepared.find(task);
    if (found == prepared.end()) return false;
    if (found->second) refuse(task, *found->second);
    return !found->second;
  }

  FenceLook fence_of(JobId job) const {
    const auto found = table_.fences.find(job);
    return found == table_.fences.end() ? FenceLook{} : found->second;
  }

  void see(AttemptId attempt) {
    std::int32_t& newest = newest_[attempt.job];
    newest = std::max(newest, attempt.number);
  }

  // Of a job that is ordered.
  std::int32_t newest_attempt(JobId job) const {
    const auto ran = table_.forgotten.find(job);
    return std::max(newest_.at(job), ran == table_.forgotten.end() ? 0 : ran->second);
  }

  bool was_forgotten(TaskId task) const {
    const auto found = table_.forgotten.find(task.attempt.job);
    return found != table_.forgotten.end() && task.attempt.number <= found->second;
  }

  // Until the exit of whatever stands in the way, or a look that finds the device free: either brings the
  // next reconcile.
  bool must_wait(const Launch& launch) const {
    for (const int index : devices_of(launch)) {
      if (launch.device_kind == "gpu" && table_.occupied_gpus.contains(index)) return true;
      if (held_.contains({launch.device_kind, index})) return true;
    }
    const AttemptId attempt = launch.task.attempt;
    const auto living = living_.find(attempt.job);
    return living != living_.end() && (living->second.size() > 1 || !living->second.contains(attempt.number));
  }

  // False where another task that is started in this run has one of its devices.
  bool claim(const Launch& launch) {
    const std::vector<int> devices = devices_of(launch);
    if (std::ranges::any_of(devices, [&](int index) {
          return claimed_.contains({launch.device_kind, index});
        }))
      return false;
    for (const int index : devices) claimed_.emplace(launch.device_kind, index);
    return true;
  }

  std::vector<int> visible_devices(AttemptId attempt) const {
    std::map<int, std::vector<int>> by_local_rank;
    for (auto it = ordered_.lower_bound(TaskId{attempt, 0});
         it != ordered_.end() && it->first.attempt == attempt; ++it)
      by_local_rank[it->second->launch.local_rank] = devices_of(it->second->launch);
    std::vector<int> devices;
    for (const auto& [local_rank, own] : by_local_rank) devices.insert(devices.end(), own.begin(), own.end());
    return devices;
  }

  void refuse(TaskId task, TaskExit exit) { actions_.list.push_back(RefuseTask{task, std::move(exit)}); }

  void terminate(TaskId task, Time kill_at, ExitCause cause) {
    actions_.list.push_back(TerminateTask{task, kill_at, cause});
    wake_at(kill_at);
  }

  // A grace period of any length ends with the node's right to run the task and what follows that.
  void kill_when_due(TaskId task, Time due) {
    if (now_ < due) return wake_at(due);
    kill(task, "it did not leave within its grace period");
  }

  void kill(TaskId task, std::string reason) {
    actions_.list.push_back(KillTask{task, now_ + kShimKillsWithin, std::move(reason)});
    wake_at(now_ + kShimKillsWithin);
  }

  void destroy_when_due(TaskId task, const Process& process) {
    if (now_ < process.next_at) return wake_at(process.next_at);
    actions_.list.push_back(DestroyTask{task});
  }

  void wake_at(Time time) { actions_.wake_at = std::min(actions_.wake_at.value_or(time), time); }

  const NodeOrders& orders_;
  const ProcessTable& table_;
  const Time now_;
  std::map<TaskId, const TaskOrder*> ordered_;
  std::map<JobId, std::int32_t> newest_;            // attempt in table and orders
  std::map<JobId, std::set<std::int32_t>> living_;  // attempts that have a process
  std::set<std::pair<std::string, int>> held_;      // devices of these
  std::set<std::pair<std::string, int>> claimed_;   // devices of the tasks started in this run
  Actions actions_;
};

}  // namespace

Time right_ends(const NodeOrders& orders, const ProcessTable& table, TaskId task) {
  const Time synced = std::max(table.last_sync + orders.lease, table.processes.at(task).granted);
  const auto fence = table.fences.find(task.attempt.job);
  if (fence == table.fences.end() || fence->second.epoch != task.attempt.number) return synced;
  const Time fenced = fence->second.read + lease::fence_lease(orders.lease);
  return std::max(synced, std::min(fenced, table.last_sync + orders.orphan));
}

Actions reconcile(const NodeOrders& orders, const ProcessTable& table, Time now) {
  return Reconciliation(orders, table, now).run();
}

}  // namespace podium
