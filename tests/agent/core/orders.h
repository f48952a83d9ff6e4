// Launches, orders and tables with sound defaults, for the tests of agent/core.
#pragma once

#include "agent/core/reconcile.h"

namespace podium {

inline TaskId task_id(std::int64_t job, std::int32_t attempt, std::int32_t rank = 0) {
  return {{{job}, attempt}, rank};
}

inline Launch launch_of(TaskId task, int device = 0) {
  Launch launch;
  launch.task = task;
  launch.world_size = task.rank + 1;
  launch.node = {"node-1"};
  launch.device_index = device;
  return launch;
}

inline TaskOrder order_of(TaskAction action, TaskId task, int device = 0) {
  return {action, launch_of(task, device)};
}

inline NodeOrders orders_of(std::vector<TaskOrder> tasks) {
  NodeOrders orders;
  orders.version = 1;
  orders.tasks = std::move(tasks);
  return orders;
}

inline Process process_in(TaskState state, int device = 0) {
  Process process;
  process.state = state;
  process.device_kind = "cpu";
  process.device_index = device;
  return process;
}

}  // namespace podium
