// Tables of processes, and what reconcile makes of them as text.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "tests/agent/core/orders.h"

namespace podium {

inline constexpr Time kNow{std::chrono::milliseconds(1'000'000)};

// "start 1.1.0; kill 2.1.0": actions as one line of text.
inline std::string text_of(const Action& action) {
  struct Visitor {
    std::string operator()(const StartTask& a) const { return "start " + to_string(a.launch.task); }
    std::string operator()(const RefuseTask& a) const { return "refuse " + to_string(a.task); }
    std::string operator()(const TerminateTask& a) const { return "terminate " + to_string(a.task); }
    std::string operator()(const KillTask& a) const { return "kill " + to_string(a.task); }
    std::string operator()(const DestroyTask& a) const { return "destroy " + to_string(a.task); }
    std::string operator()(const ForgetTask& a) const { return "forget " + to_string(a.task); }
  };
  return std::visit(Visitor{}, action);
}

inline std::string text_of(const Actions& actions) {
  std::string text;
  for (const Action& action : actions.list) text += (text.empty() ? "" : "; ") + text_of(action);
  return text;
}

inline ProcessTable table_of(std::map<TaskId, Process> processes) {
  ProcessTable table;
  table.processes = std::move(processes);
  table.last_sync = kNow;
  return table;
}

inline Process exited(bool delivered) {
  Process process = process_in(TaskState::exited);
  process.delivered = delivered;
  return process;
}

inline Process terminating(Time kill_at) {
  Process process = process_in(TaskState::running);
  process.stopping = Stopping::terminating;
  process.next_at = kill_at;
  return process;
}

// As an agent has it that was given these orders a while ago: every fence stands at the newest attempt.
inline ProcessTable fenced(const NodeOrders& orders, ProcessTable table) {
  for (const TaskOrder& order : orders.tasks) {
    FenceLook& look = table.fences[order.launch.task.attempt.job];
    look.epoch = std::max(look.epoch, order.launch.task.attempt.number);
  }
  return table;
}

inline Actions look(const NodeOrders& orders, const ProcessTable& table, Time now) {
  return reconcile(orders, fenced(orders, table), now);
}

inline const TaskId kTask = task_id(1, 1);
inline const Process kRunning = process_in(TaskState::running);
inline const TaskOrder kRun = order_of(TaskAction::start, kTask);
inline const TaskOrder kStop = order_of(TaskAction::stop, kTask);

}  // namespace podium
