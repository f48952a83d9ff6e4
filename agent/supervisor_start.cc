// How the Supervisor starts a task (its folder, its lease, its shim), and what it reports where a start
// fails.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "agent/container_host.h"
#include "agent/process/shared_fence.h"
#include "agent/process/shim_protocol.h"
#include "agent/supervisor.h"
#include "common/base/boot_clock.h"

namespace podium {
namespace {

// Handles a folder that could not be written completely.
void remove_remains(const TaskFolder& folder) {
  try {
    if (std::filesystem::exists(folder.path())) folder.remove();
  } catch (const std::system_error& error) {
    spdlog::warn("{}", error.what());
  }
}

// What the node lacks another may have; what the spec says is the same everywhere.
TaskExit exit_of_refusal(const Errors& errors) {
  if (errors.front().code == ErrorCode::not_found)
    return {shim::kCannotRun, 0, errors.front().message, ExitCause::cannot_run};
  return {static_cast<int>(WorkerExit::bad_spec), 0, describe(errors)};
}

}  // namespace

void Supervisor::carry_out(const StartTask& start) {
  const TaskId id = start.launch.task;
  SupervisedTask& task = tasks_[id];
  task.record.task = id;
  task.record.boot = boot_id();
  task.record.device_kind = start.launch.device_kind;
  task.record.device_index = start.launch.device_index;
  task.record.more_devices = start.launch.more_devices;
  Process& process = table_.processes[id];
  process.device_kind = start.launch.device_kind;
  process.device_index = start.launch.device_index;
  process.more_devices = start.launch.more_devices;
  try {
    launch(task, start);
  } catch (const std::exception& error) {  // Asio's failures are no std::system_error
    if (!task.folder) remove_remains(TaskFolder(config_.home, id));
    const std::string why = shortage_text(error, config_.home);
    start_failed(why, shortage_of(error));
    set_exit(id, {0, 0, why, ExitCause::not_started});
  }
  changed();
}

// No job is to blame: this node gets no more tasks until it can start them again.
void Supervisor::start_failed(const std::string& why, Shortage shortage) {
  start_health_.failed("cannot start tasks: " + why, shortage, clock_.now());
  tell_health();
}

void Supervisor::tell_health() {
  if (devices_.set_node_health(table_.leaving ? "its agent is being stopped" : start_health_.reason()))
    changed();
}

TaskPaths Supervisor::paths_of(const Launch& order, const TaskFolder& folder) const {
  const auto checkpoints_of = [&](JobId job) {
    return (shared_job_folder(jobs_folder(), job) / "checkpoints").string();
  };
  return {folder.path(),
          folder.launch_path(),
          folder.stream_path(StreamKind::events),
          config_.data,
          checkpoints_of(order.task.attempt.job),
          order.spec.resume ? checkpoints_of(*order.spec.resume) : "",
          config_.worker,
          order.spec.code ? (folder.path() / "code").string() : "",
          order.spec.inputs.empty() ? "" : (folder.path() / "inputs").string(),
          order.spec.model.init_job ? checkpoints_of(order.spec.model.init_job->job) : "",
          order.spec.inputs.empty() ? "" : config_.staging.folder.string(),
          config_.address};
}

LaunchClock Supervisor::clock_of(const Launch& launch) const {
  const auto order =
      std::ranges::find(orders_.tasks, launch.task, [](const TaskOrder& each) { return each.launch.task; });
  LaunchClock clock;
  if (order != orders_.tasks.end()) clock = order->clock;
  const bool is_measured = launch.spec.mlperf || clock != LaunchClock{};
  if (is_measured && !coordinator_ahead_.empty()) clock.ahead = *std::ranges::max_element(coordinator_ahead_);
  return clock;
}

void Supervisor::launch(SupervisedTask& task, const StartTask& start) {
  const TaskId id = start.launch.task;
  const TaskFolder folder(config_.home, id);
  const TaskPaths paths = paths_of(start.launch, folder);
  ContainerHost containers;
  if (start.launch.spec.container) containers = find_container_host(config_.environment, config_.home);
  const Result<TaskCommand> command =
      make_command(start, paths, config_.environment, gpu_uuids(), config_.tracking, containers);
  if (!command) return set_exit(id, exit_of_refusal(command.errors()));
  task.record.leased = true;
  plan_outputs(task, start.launch, command->folder);
  const Launch whole = complete_launch(start.launch, paths);
  room_.make_room_for([&] { folder.create(task.record, whole, clock_of(start.launch)); });
  task.folder = folder;
  if (start.launch.spec.code) {
    code_.give(id, paths.code);
    table_.code.erase(id);
  }
  if (!start.launch.spec.inputs.empty()) {
    folder.tell(inputs_.give(id, paths.inputs));
    table_.inputs.erase(id);
  }
  task.lease.emplace(folder.path());
  room_.make_room_for([&] { task.lease->set(right_ends(orders_, table_, id), lease::leave(orders_.lease)); });
  const auto cgroup = cgroups_ ? cgroups_->make(id) : std::filesystem::path();
  SpawnedShim shim = spawn_shim({config_.shim, folder.path(), command->arguments, command->environment,
                                 cgroup, numa_of(start.launch), command->contained, command->at_end});
  try {
    watch(id, std::move(shim.pidfd), std::move(shim.ready));
  } catch (const std::exception&) {
    end_shim(shim.pid);
    throw;
  }
  task.shim = shim.pid;
  read_console(id, start.launch);
  spdlog::info("task {}: started ({})", to_string(id), start.launch.name);
}

// The NUMA node of all its devices; -1 where they are on several, or where it is not known.
int Supervisor::numa_of(const Launch& launch) const {
  std::set<int> numas;
  for (const int index : devices_of(launch)) {
    const Device* device = devices_.find(launch.device_kind, index);
    numas.insert(device ? device->numa : -1);
  }
  return numas.size() == 1 ? *numas.begin() : -1;
}

std::map<int, std::string> Supervisor::gpu_uuids() const {
  std::map<int, std::string> uuids;
  for (const Device& device : devices_.list())
    if (device.kind == "gpu" && !device.artificial && !device.uuid.empty()) uuids[device.index] = device.uuid;
  return uuids;
}

void Supervisor::carry_out(const RefuseTask& refuse) {
  spdlog::warn("task {}: {}", to_string(refuse.task), refuse.exit.message);
  tasks_[refuse.task].record.task = refuse.task;
  if (const auto fence = table_.fences.find(refuse.task.attempt.job); fence != table_.fences.end()) {
    const FenceLook& look = fence->second;
    if (!look.failure.empty() && !look.anothers) start_failed(look.failure, Shortage::none);
    if (look.epoch > refuse.task.attempt.number) newer_elsewhere_[refuse.task.attempt.job] = look.epoch;
  }
  set_exit(refuse.task, refuse.exit);
}

}  // namespace podium
