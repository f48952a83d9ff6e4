#include "coordinator/core/nodes/report_limits.h"

#include <set>
#include <utility>

#include "common/base/text.h"

namespace podium {
namespace {

constexpr std::int64_t kLargestJobNumber = 1'000'000'000'000;
constexpr std::int32_t kLargestAttempt = 1'000'000'000;

constexpr std::size_t kMostDevicesOfNode =
    4096;  // an agent offers at most 1,024 CPU slots and as many made-up GPUs
constexpr int kHighestIndex = 65'535;
constexpr std::size_t kMostTasks = 20'000;  // also those whose files wait for delivery
constexpr std::size_t kLongestText = 500;   // of a model, a version and the like
constexpr std::size_t kLongestMessage = 4096;

class Check {
 public:
  void most(std::size_t count, std::size_t limit, const std::string& what, const std::string& where) {
    if (count > limit)
      add(std::to_string(count) + " " + what + " are too many; a node has at most " + std::to_string(limit),
          where);
  }
  void text(const std::string& text, const std::string& what, const std::string& where) {
    if (text.size() > kLongestText)
      add(what + " has " + std::to_string(text.size()) + " bytes and may have " +
              std::to_string(kLongestText),
          where);
  }
  void add(const std::string& message, const std::string& where) {
    errors_.push_back({ErrorCode::invalid, message, where});
  }
  Errors errors() && { return std::move(errors_); }
  bool failed() const { return !errors_.empty(); }

 private:
  Errors errors_;
};

void check_labels(const std::map<std::string, std::string>& labels, Check& check) {
  check.most(labels.size(), kMostNodeLabels, "labels", "/node/labels");
  for (const auto& [key, value] : labels)
    if (!is_label_text(key) || !is_label_text(value))
      return check.add("a label's key and value " + std::string(kLabelRule), "/node/labels");
}

void check_device(const Device& device, Check& check) {
  const std::string where = "/node/devices";
  const std::string name = "device " + std::to_string(device.index);
  if (device.index < 0 || device.index > kHighestIndex)
    check.add(name + " must have an index from 0 to " + std::to_string(kHighestIndex), where);
  if (!is_label_text(device.kind)) check.add(name + "'s kind " + std::string(kLabelRule), where);
  if (device.memory_bytes < 0 || device.threads < 0)
    check.add(name + " cannot have less than no memory and no threads", where);
  check.text(device.model, name + "'s model", where);
  check.text(device.uuid, name + "'s uuid", where);
  check.text(device.health, name + "'s health", where);
  check.most(device.paths.size(), kMostDevicesOfNode, "paths of " + name, where);
  for (const std::string& path : device.paths) check.text(path, "a path of " + name, where);
}

bool is_possible(AttemptId attempt) {
  return attempt.job.value >= 1 && attempt.job.value <= kLargestJobNumber && attempt.number >= 1 &&
         attempt.number <= kLargestAttempt;
}

void check_ended(const std::vector<AttemptId>& ended, Check& check) {
  check.most(ended.size(), kMostEnded + kMostTasks, "ended attempts", "/ended");
  std::set<JobId> jobs;
  for (const AttemptId attempt : ended) {
    if (!is_possible(attempt))
      return check.add("there is no such attempt as " + to_string(attempt), "/ended");
    if (!jobs.insert(attempt.job).second)
      return check.add(to_string(attempt.job) + " is listed twice", "/ended");
  }
}

void check_task(TaskId task, Check& check) {
  if (check.failed()) return;
  if (!is_possible(task.attempt) || task.rank < 0 || task.rank > kHighestIndex)
    check.add("there is no such task as " + to_string(task), "/tasks");
}

void check_node(const NodeDescription& node, Check& check) {
  if (!is_node_name(node.id.value)) check.add("a node's id " + std::string(kNodeNameRule), "/node/id");
  if (!is_address(node.address)) check.add("a node's address " + std::string(kAddressRule), "/node/address");
  check.text(node.agent_version, "the agent's version", "/node/agent_version");
  check.text(node.boot, "the boot", "/node/boot");
  check.text(node.key, "the agent's key", "/node/key");
  check_labels(node.labels, check);
  check.most(node.devices.size(), kMostDevicesOfNode, "devices", "/node/devices");
  if (check.failed()) return;
  std::set<int> indexes;
  for (const Device& device : node.devices) {
    check_device(device, check);
    if (!indexes.insert(device.index).second)
      check.add("device " + std::to_string(device.index) + " is listed twice", "/node/devices");
    if (check.failed()) return;
  }
}

}  // namespace

Errors check_report(const NodeReport& report) {
  Check check;
  check.most(report.tasks.size(), kMostTasks, "tasks", "/tasks");
  check.most(report.readings.size(), kMostDevicesOfNode, "readings", "/readings");
  check.text(report.node.shared, "the shared folder's identity", "/node/shared");
  check.text(report.cluster.id, "the cluster's id", "/cluster/id");
  if (report.highest_job < 0 || report.highest_job > kLargestJobNumber)
    check.add("there is no such job", "/highest_job");
  for (const TaskReport& task : report.tasks) check_task(task.task, check);
  check_ended(report.ended, check);
  check_node(report.node, check);
  return std::move(check).errors();
}

TaskExit cut_exit(TaskExit exit) {
  exit.message = cut_text(std::move(exit.message), kLongestMessage);
  return exit;
}

}  // namespace podium
