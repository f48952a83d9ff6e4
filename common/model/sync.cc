#include "common/model/sync.h"

#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<TaskState, 3> kTaskStates{
    {{TaskState::starting, "starting"}, {TaskState::running, "running"}, {TaskState::exited, "exited"}}};
constexpr EnumNames<TaskAction, 3> kActions{
    {{TaskAction::start, "start"}, {TaskAction::keep, "keep"}, {TaskAction::stop, "stop"}}};

json task_json(const TaskReport& task) {
  json out{{"job", task.task.attempt.job.value},
           {"attempt", task.task.attempt.number},
           {"rank", task.task.rank},
           {"state", to_string(task.state)},
           {"pid", task.pid}};
  if (task.exit) out["exit"] = to_json(*task.exit);
  return out;
}

TaskReport task_report_from(const json& in) {
  TaskReport task;
  task.task = {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
  task.state = enum_value(kTaskStates, in.at("state").get<std::string>(), "tasks.state");
  task.pid = in.value("pid", std::int64_t{0});
  if (in.contains("exit")) task.exit = task_exit_from_json(in.at("exit"));
  if ((task.state == TaskState::exited) != task.exit.has_value())
    throw std::invalid_argument("a task has an exit exactly when it is exited");
  return task;
}

json staging_json(TaskId task) {
  return {{"job", task.attempt.job.value}, {"attempt", task.attempt.number}, {"rank", task.rank}};
}

TaskId staging_from(const json& in) {
  return {{{in.at("job").get<std::int64_t>()}, in.at("attempt")}, in.at("rank")};
}

json ended_json(AttemptId attempt) { return {{"job", attempt.job.value}, {"attempt", attempt.number}}; }

AttemptId ended_from(const json& in) { return {{in.at("job").get<std::int64_t>()}, in.at("attempt")}; }

json cluster_json(const ClusterName& cluster) {
  return {{"id", cluster.id}, {"generation", cluster.generation}};
}

ClusterName cluster_from(const json& in) {
  if (!in.contains("cluster")) return {};
  return {in.at("cluster").at("id"), in.at("cluster").at("generation")};
}

ClockTelling clock_from(const json& in) {
  const auto time = [&in](const char* key) { return from_millis(in.at(key).get<std::int64_t>()); };
  return {time("sent_ms"), time("heard_ms"), time("answered_ms")};
}

}  // namespace

std::string_view to_string(TaskState state) { return enum_name(kTaskStates, state); }

json to_json(const NodeReport& report) {
  json tasks = json::array();
  for (const TaskReport& task : report.tasks) tasks.push_back(task_json(task));
  json out{{"version", 1},
           {"node", to_json(report.node)},
           {"tasks", std::move(tasks)},
           {"orders_seen", report.orders_seen},
           {"interrupted", report.interrupted},
           {"cluster", cluster_json(report.cluster)},
           {"highest_job", report.highest_job}};
  if (report.clock)
    out["clock"] = {{"sent_ms", to_millis(report.clock->sent)},
                    {"heard_ms", to_millis(report.clock->heard)},
                    {"answered_ms", to_millis(report.clock->answered)}};
  for (const DeviceReading& reading : report.readings) out["readings"].push_back(to_json(reading));
  for (const AttemptId attempt : report.ended) out["ended"].push_back(ended_json(attempt));
  for (const TaskId task : report.staging) out["staging"].push_back(staging_json(task));
  if (report.package_joules) out["package_joules"] = *report.package_joules;
  return out;
}

NodeReport node_report_from_json(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("sync version must be 1");
  NodeReport report;
  report.node = node_description_from_json(in.at("node"));
  for (const json& task : in.at("tasks")) report.tasks.push_back(task_report_from(task));
  report.orders_seen = in.at("orders_seen");
  report.interrupted = in.value("interrupted", false);
  report.cluster = cluster_from(in);
  report.highest_job = in.value("highest_job", std::int64_t{0});
  if (in.contains("clock")) report.clock = clock_from(in.at("clock"));
  for (const json& reading : in.value("readings", json::array()))
    report.readings.push_back(device_reading_from_json(reading));
  for (const json& attempt : in.value("ended", json::array())) report.ended.push_back(ended_from(attempt));
  for (const json& task : in.value("staging", json::array())) report.staging.push_back(staging_from(task));
  if (in.contains("package_joules")) report.package_joules = in.at("package_joules").get<double>();
  return report;
}

json to_json(const NodeOrders& orders) {
  json tasks = json::array();
  for (const TaskOrder& task : orders.tasks) {
    tasks.push_back({{"action", enum_name(kActions, task.action)},
                     {"launch", to_json(task.launch)},
                     {"wait_ms", task.wait.count()},
                     {"born_ms", to_millis(task.born)},
                     {"begun_ms", to_millis(task.begun)}});
    add_clock(task.clock, tasks.back());
  }
  return {{"version", 1},
          {"orders", orders.version},
          {"lease_ms", orders.lease.count()},
          {"orphan_ms", orders.orphan.count()},
          {"cluster", cluster_json(orders.cluster)},
          {"folder", orders.folder},
          {"clock_ms", to_millis(orders.clock)},
          {"tasks", std::move(tasks)}};
}

NodeOrders node_orders_from_json(const json& in) {
  if (in.at("version") != 1) throw std::invalid_argument("sync version must be 1");
  NodeOrders orders;
  orders.version = in.at("orders");
  orders.lease = Duration{in.at("lease_ms").get<std::int64_t>()};
  orders.orphan = Duration{in.value("orphan_ms", std::int64_t{0})};
  orders.cluster = cluster_from(in);
  orders.folder = in.value("folder", "jobs");
  orders.clock = from_millis(in.value("clock_ms", std::int64_t{0}));
  for (const json& task : in.at("tasks"))
    orders.tasks.push_back({enum_value(kActions, task.at("action").get<std::string>(), "tasks.action"),
                            launch_from_json(task.at("launch")),
                            Duration{task.value("wait_ms", std::int64_t{0})},
                            from_millis(task.value("born_ms", std::int64_t{0})),
                            from_millis(task.value("begun_ms", std::int64_t{0})), clock_in(task)});
  return orders;
}

}  // namespace podium
