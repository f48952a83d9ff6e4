// The sync between an agent and the coordinator: POST /api/v1/nodes/{id}/sync carries a NodeReport up and
// NodeOrders down. Both are whole states, never differences, so repeating or losing one is harmless. The
// coordinator holds its answer until the orders differ from `orders_seen`, a newer report of the node
// arrives, or 15 s have passed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/model/device_reading.h"
#include "common/model/launch.h"
#include "common/model/node.h"

namespace podium {

// How a process ended: by itself with `code`, or by `signal`.
struct TaskExit {
  int code = 0;
  int signal = 0;
  std::string message;  // the task's last error note, or why it could not be started

  bool clean() const { return code == 0 && signal == 0; }
  bool operator==(const TaskExit&) const = default;
};

enum class TaskState { starting, running, exited };

// One task the agent still has a record of.
struct TaskReport {
  TaskId task;
  TaskState state = TaskState::starting;
  std::int64_t pid = 0;
  std::optional<TaskExit> exit;  // when exited

  bool operator==(const TaskReport&) const = default;
};

struct NodeReport {
  NodeDescription node;
  std::vector<TaskReport> tasks;
  std::int64_t orders_seen = 0;              // the version of the orders this report answers; 0: none yet
  std::vector<DeviceReading> readings = {};  // of the devices that measure anything

  bool operator==(const NodeReport&) const = default;
};

enum class TaskAction { run, stop };

// run: the process shall exist (started at most once). stop: SIGTERM, after the grace period SIGKILL.
// A task the agent has and the orders lack is killed and, once its files are delivered, forgotten.
struct TaskOrder {
  TaskAction action = TaskAction::run;
  Launch launch;
};

struct NodeOrders {
  std::int64_t version = 0;
  Duration lease = std::chrono::seconds(60);  // without any sync for this long the agent stops its tasks
  std::vector<TaskOrder> tasks;
};

std::string_view to_string(TaskState state);

nlohmann::json to_json(const NodeReport& report);
NodeReport node_report_from_json(const nlohmann::json& json);
nlohmann::json to_json(const NodeOrders& orders);
NodeOrders node_orders_from_json(const nlohmann::json& json);

}  // namespace podium
