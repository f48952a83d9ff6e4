// The sync between an agent and the coordinator: POST /api/v1/nodes/{id}/sync carries a NodeReport up and
// NodeOrders down. Both are whole states, never differences, so repeating or losing one is harmless. The
// coordinator holds its answer until the orders differ from `orders_seen`, a newer report of the node
// arrives, or lease::longest_poll has passed; a report that was `interrupted` is answered at once.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/model/device_reading.h"
#include "common/model/launch.h"
#include "common/model/launch_clock.h"
#include "common/model/lease.h"
#include "common/model/node.h"
#include "common/model/task_exit.h"

namespace podium {

enum class TaskState { starting, running, exited };

// One task the agent still has a record of.
struct TaskReport {
  TaskId task;
  TaskState state = TaskState::starting;
  std::int64_t pid = 0;
  std::optional<TaskExit> exit;  // when exited

  bool operator==(const TaskReport&) const = default;
};

// The cluster whose jobs an agent runs; job numbers are meaningless without it. The id is made with the
// database; the generation rises at each start of its coordinator.
struct ClusterName {
  std::string id;  // "": none yet
  std::int64_t generation = 0;

  bool operator==(const ClusterName&) const = default;
};

// The data from which the coordinator measures a node's wall clock: when this report was sent and when the
// previous answer arrived, both by that clock, and the coordinator's time in that answer.
struct ClockTelling {
  Time sent{};
  Time heard{};
  Time answered{};  // 0: there was no answer before

  bool operator==(const ClockTelling&) const = default;
};

inline constexpr std::size_t kMostEnded = 1000;  // besides those that are ordered

struct NodeReport {
  NodeDescription node;
  std::vector<TaskReport> tasks;
  std::int64_t orders_seen = 0;              // the version of the orders this report answers; 0: none yet
  std::vector<DeviceReading> readings = {};  // of the devices that measure anything
  bool interrupted = false;  // the previous sync was not answered with orders, or there was none
  ClusterName cluster = {};  // whose orders the tasks follow
  std::optional<ClockTelling> clock = {};
  std::int64_t highest_job = 0;  // of those that this cluster has in the shared folder
  // For each job the newest attempt that has ended here and was forgotten, or for which the shared fence
  // forbids an order (one more for another of that number): for jobs whose ordered attempt is no newer and,
  // where `interrupted`, for the newest kMostEnded. The coordinator may have an older database now.
  std::vector<AttemptId> ended = {};
  // Joules that the processor packages of the node drew together since its agent started; absent where the
  // kernel has no counters.
  std::optional<double> package_joules = {};
  // Ordered tasks that start once their inputs are on the node, which they are not yet.
  std::vector<TaskId> staging = {};

  bool operator==(const NodeReport&) const = default;
};

enum class TaskAction { start, keep, stop };

// start: the process must exist. keep: the same, but an agent has reported it before; an agent that lacks it
// reports ExitCause::no_record and never starts it. stop: the stop signal, and SIGKILL after the grace
// period. A task that the orders lack is killed and, once its files are delivered, forgotten.
struct TaskOrder {
  TaskAction action = TaskAction::start;
  Launch launch;
  Duration wait = {};  // after the job's shared fence is at this attempt, until the task may start
  // A restored database may assign numbers again; these times distinguish the two.
  Time born = {};   // when the job was first submitted
  Time begun = {};  // when the attempt was decided: of two of one number the later wins
  LaunchClock clock = {};
};

struct NodeOrders {
  std::int64_t version = 0;
  Duration lease = lease::kUsual;  // from the sending of a report that is answered: common/model/lease.h
  Duration orphan = {};            // likewise, how long tasks may go on by the shared fence alone
  std::vector<TaskOrder> tasks;
  ClusterName cluster = {};     // whose tasks these are; an agent follows no other cluster's orders
  std::string folder = "jobs";  // of that cluster's jobs, in the shared folder
  Time clock = {};              // the coordinator's, when it answered
};

std::string_view to_string(TaskState state);

nlohmann::json to_json(const NodeReport& report);
NodeReport node_report_from_json(const nlohmann::json& json);
nlohmann::json to_json(const NodeOrders& orders);
NodeOrders node_orders_from_json(const nlohmann::json& json);

}  // namespace podium
