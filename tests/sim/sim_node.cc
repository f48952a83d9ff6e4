#include "tests/sim/sim_node.h"

#include <algorithm>
#include <csignal>

namespace podium::sim {
namespace {

// A device that a live process has and the launch would have.
std::optional<int> shared_device(const Process& process, const Launch& launch) {
  if (process.state == TaskState::exited) return std::nullopt;
  for (const int device : devices_of(launch))
    if (std::ranges::find(process.devices, device) != process.devices.end()) return device;
  return std::nullopt;
}

constexpr int kExitCodes[] = {1, 1, 64, 65, 73, 74, 74, 75, 76, 77, 137};

}  // namespace

void SimNode::pass(Time truth, Random& random) {
  if (powered_ && agent_alive_ && answered_ != Time{} && truth - answered_ >= lease_)
    for (auto& [id, process] : processes_) stop(process, truth, random);
  for (auto& [id, process] : processes_) {
    if (process.state == TaskState::starting && process.begins <= truth) process.state = TaskState::running;
    if (process.state == TaskState::exited || process.leaves > truth) continue;
    process.state = TaskState::exited;
    process.exit = process.leaving;
  }
}

// Every report tells what ended, as one after an interruption does: any sync may have been interrupted.
NodeReport SimNode::report() {
  NodeReport report{description_, {}, orders_seen_};
  if (mislaid_reports_ > 0) {
    --mislaid_reports_;
    return report;
  }
  for (const auto& [id, process] : processes_)
    report.tasks.push_back({id, process.state, process.pid, process.exit});
  report.interrupted = true;
  for (const auto& [job, attempt] : forgotten_) report.ended.push_back({job, attempt});
  for (const auto& [id, reports] : staging_) report.staging.push_back(id);
  return report;
}

void SimNode::take_orders(const NodeOrders& orders, Time truth, Random& random) {
  answered_ = truth;
  orders_seen_ = orders.version;
  std::set<TaskId> ordered;
  for (const TaskOrder& order : orders.tasks)
    if (order.launch.name == "unknown") parked_.insert(order.launch.task);
  for (const TaskOrder& order : orders.tasks) {
    const AttemptId attempt = order.launch.task.attempt;
    ordered.insert(order.launch.task);
    const auto found = processes_.find(order.launch.task);
    const bool was_here = attempt.number <= newest_forgotten(attempt.job);
    if (order.action == TaskAction::start && !(found == processes_.end() && was_here))
      start(order, truth, random);
    else if (found == processes_.end())
      refuse(order);
    else if (order.action == TaskAction::stop)
      stop(found->second, truth, random, order.launch.grace);
  }
  std::erase_if(staging_, [&](const auto& task) {
    return !ordered.contains(task.first) || processes_.contains(task.first);
  });
  for (auto at = processes_.begin(); at != processes_.end();) {
    auto& [id, process] = *at;
    if (!ordered.contains(id)) stop(process, truth, random);
    const bool forget = !ordered.contains(id) && process.state == TaskState::exited;
    if (forget) forgotten_[id.attempt.job] = std::max(forgotten_[id.attempt.job], id.attempt.number);
    at = forget ? processes_.erase(at) : std::next(at);
  }
}

void SimNode::start(const TaskOrder& order, Time truth, Random& random) {
  const auto holds_device = [&](TaskId parked) {
    const auto found = processes_.find(parked);
    return found != processes_.end() && shared_device(found->second, order.launch);
  };
  if (occupied_ || std::ranges::any_of(parked_, holds_device)) return;
  if (stages(order.launch.task, random)) return;
  if (!started_.insert(order.launch.task).second) return;
  for (const auto& [id, other] : processes_)
    if (const auto device = shared_device(other, order.launch))
      crime_ = "device " + std::to_string(*device) + " of " + description_.id.value + " was given to " +
               to_string(order.launch.task) + " while " + to_string(id) + " lives there";
  Process process;
  if (random.chance(20)) {
    process.state = TaskState::starting;
    process.begins = truth + std::chrono::seconds(random.between(3, 6));
  }
  process.devices = devices_of(order.launch);
  process.pid = next_pid_++;
  process.leaves =
      truth + std::chrono::seconds(random.chance(10) ? random.between(200, 400) : random.between(1, 40));
  processes_.emplace(order.launch.task, process);
}

// Some wait for their inputs for a few reports.
bool SimNode::stages(TaskId task, Random& random) {
  if (started_.contains(task)) return false;
  const auto [waits, is_new] = staging_.try_emplace(task, 0);
  if (is_new && random.chance(5)) waits->second = random.between(1, 5);
  if (waits->second-- > 0) return true;
  staging_.erase(waits);
  return false;
}

void SimNode::refuse(const TaskOrder& order) {
  started_.insert(order.launch.task);
  Process never;
  never.state = TaskState::exited;
  never.exit = order.action == TaskAction::stop
                   ? TaskExit{0, SIGTERM, "stopped before it was started", ExitCause::ordered}
               : order.action == TaskAction::start
                   ? TaskExit{0, 0, "this node has seen it before", ExitCause::not_started}
                   : TaskExit{0, SIGKILL, "", ExitCause::no_record};
  processes_.emplace(order.launch.task, never);
}

void SimNode::stop(Process& process, Time truth, Random& random, Duration grace) {
  if (process.stuck || process.state == TaskState::exited) return;
  if (process.stopping) {  // it was told before, and may have been given longer
    process.leaves = std::min(process.leaves, truth + grace);
    return;
  }
  process.stopping = true;
  process.leaves =
      truth + std::chrono::seconds(random.below(static_cast<int>(grace / std::chrono::seconds(1))));
  process.leaving = random.chance(60) ? TaskExit{} : TaskExit{0, random.chance(50) ? SIGTERM : SIGKILL, ""};
}

void SimNode::restart_agent() {
  agent_alive_ = powered_ = true;
  mislaid_reports_ = 0;
  orders_seen_ = 0;
  staging_.clear();
  description_.boot = "boot-" + std::to_string(++boots_);
}

void SimNode::replace_machine() {
  processes_.clear();
  started_.clear();
  forgotten_.clear();
  restart_agent();
}

// Its disk remembers which tasks it had, and that nobody saw them end.
void SimNode::lose_power() {
  powered_ = agent_alive_ = false;
  for (auto& [id, process] : processes_) {
    if (process.state == TaskState::exited) continue;
    process.state = TaskState::exited;
    process.exit = TaskExit{1, 0, "was gone when the agent came back"};
  }
}

void SimNode::fail_process(Random& random) {
  if (processes_.empty()) return;
  auto victim = std::next(processes_.begin(), random.below(static_cast<int>(processes_.size())));
  Process& process = victim->second;
  if (process.stuck || process.state == TaskState::exited) return;
  process.leaves = Time{};
  const int code = kExitCodes[random.below(static_cast<int>(std::size(kExitCodes)))];
  process.leaving = random.chance(30) ? TaskExit{0, SIGKILL, ""} : TaskExit{code, 0, "simulated"};
}

void SimNode::stick_process(Random& random) {
  if (processes_.empty()) return;
  auto victim = std::next(processes_.begin(), random.below(static_cast<int>(processes_.size())));
  if (victim->second.state == TaskState::exited) return;
  victim->second.stuck = true;
  victim->second.leaves = Time::max();
}

bool SimNode::has_stuck_process() const {
  return std::ranges::any_of(processes_, [](const auto& entry) {
    return entry.second.stuck && entry.second.state != TaskState::exited;
  });
}

std::int32_t SimNode::newest_forgotten(JobId job) const {
  const auto found = forgotten_.find(job);
  return found == forgotten_.end() ? 0 : found->second;
}

std::int32_t SimNode::newest_seen(JobId job) const {
  std::int32_t newest = newest_forgotten(job);
  for (const auto& [id, process] : processes_)
    if (id.attempt.job == job) newest = std::max(newest, id.attempt.number);
  return newest;
}

void SimNode::set_health(const std::string& health) { description_.devices.front().health = health; }

}  // namespace podium::sim
