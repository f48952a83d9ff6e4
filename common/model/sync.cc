#include "common/model/sync.h"

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<TaskState, 3> kTaskStates{
    {{TaskState::starting, "starting"}, {TaskState::running, "running"}, {TaskState::exited, "exited"}}};
constexpr EnumNames<TaskAction, 2> kActions{{{TaskAction::run, "run"}, {TaskAction::stop, "stop"}}};

json task_json(const TaskReport& task) {
  json out{{"job", task.task.attempt.job.value},
           {"attempt", task.task.attempt.number},
           {"rank", task.task.rank},
           {"state", to_string(task.state)},
           {"pid", task.pid}};
  if (task.exit)
    out["exit"] = {{"code", task.exit->code}, {"signal", task.exit->signal}, {"message", task.exit->message}};
  return out;
}

TaskReport task_from(const json& in) {
  TaskReport task;
  task.task = {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
  task.state = enum_value(kTaskStates, in.at("state").get<std::string>(), "tasks.state");
  task.pid = in.value("pid", std::int64_t{0});
  if (in.contains("exit")) {
    const json& exit = in.at("exit");
    task.exit = TaskExit{exit.at("code"), exit.at("signal"), exit.value("message", "")};
  }
  if ((task.state == TaskState::exited) != task.exit.has_value())
    throw std::invalid_argument("a task has an exit exactly when it is exited");
  return task;
}

}  // namespace

std::string_view to_string(TaskState state) { return enum_name(kTaskStates, state); }

json to_json(const NodeReport& report) {
  json tasks = json::array();
  for (const TaskReport& task : report.tasks) tasks.push_back(task_json(task));
  json out{{"version", 1},
           {"node", to_json(report.node)},
           {"tasks", std::move(tasks)},
           {"orders_seen", report.orders_seen}};
  for (const DeviceReading& reading : report.readings) out["readings"].push_back(to_json(reading));
  return out;
}

NodeReport node_report_from_json(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("sync version must be 1");
  NodeReport report;
  report.node = node_description_from_json(in.at("node"));
  for (const json& task : in.at("tasks")) report.tasks.push_back(task_from(task));
  report.orders_seen = in.at("orders_seen");
  for (const json& reading : in.value("readings", json::array()))
    report.readings.push_back(device_reading_from_json(reading));
  return report;
}

json to_json(const NodeOrders& orders) {
  json tasks = json::array();
  for (const TaskOrder& task : orders.tasks)
    tasks.push_back({{"action", enum_name(kActions, task.action)}, {"launch", to_json(task.launch)}});
  return {{"version", 1},
          {"orders", orders.version},
          {"lease_ms", orders.lease.count()},
          {"tasks", std::move(tasks)}};
}

NodeOrders node_orders_from_json(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("sync version must be 1");
  NodeOrders orders;
  orders.version = in.at("orders");
  orders.lease = Duration{in.at("lease_ms").get<std::int64_t>()};
  for (const json& task : in.at("tasks"))
    orders.tasks.push_back({enum_value(kActions, task.at("action").get<std::string>(), "tasks.action"),
                            launch_from_json(task.at("launch"))});
  return orders;
}

}  // namespace podium
