// The start of the Supervisor: adopts the tasks that an earlier agent left in its home, whatever their state.
#include <signal.h>
#include <spdlog/spdlog.h>

#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "agent/process/adoption.h"
#include "agent/process/task_exit.h"
#include "agent/supervisor.h"
#include "common/base/boot_clock.h"
#include "common/net/spawn.h"

namespace podium {

namespace asio = boost::asio;
using namespace std::chrono_literals;

void Supervisor::adopt() {
  std::vector<std::filesystem::path> strange;
  const std::vector<TaskId> found = find_tasks(config_.home, strange);
  if (const int killed = kill_strangers(config_.home, {found.begin(), found.end()}); killed > 0)
    spdlog::warn(
        "killed processes of tasks that {} holds no record of, {} in all: it was deleted or replaced while "
        "they ran",
        config_.home.string(), killed);
  for (const TaskId id : found) try_to_adopt(id);
  for (const auto& [id, process] : table_.processes)
    if (process.state != TaskState::exited) inputs_.adopt(id, TaskFolder(config_.home, id).path() / "inputs");
  for (const auto& path : strange)
    spdlog::warn("{} is not the folder of a task that was started: left alone", path.string());
  act_soon();
}

// A program may do anything to its folder, so a task that cannot be adopted is ended, and the others go on. A
// shortage is no task's fault and ends none.
void Supervisor::try_to_adopt(TaskId id) {
  try {
    adopt_one(id);
  } catch (const std::exception& error) {
    if (shortage_of(error) != Shortage::none) throw;
    spdlog::error("task {} cannot be taken up, and is ended: {}", to_string(id), error.what());
    SupervisedTask& task = tasks_[id];
    task.record.task = id;
    task.folder = TaskFolder(config_.home, id);
    ended(id);
  }
}

void Supervisor::adopt_one(TaskId id) {
  const TaskFolder folder(config_.home, id);
  const TaskRecord record = folder.read_record();
  if (record.forgotten) return room_.keep(id);
  SupervisedTask& task = tasks_[id];
  task.record = task.saved = record;
  task.folder = folder;
  Process& process = table_.processes[id];
  process.device_kind = record.device_kind;
  process.device_index = record.device_index;
  process.more_devices = record.more_devices;
  process.kill_by = record.kill_by;
  if (record.leased || TaskLease::exists(folder.path())) task.lease.emplace(folder.path());
  process.granted = task.lease ? task.lease->end() : left_to_tasks_;
  if (const auto launch = folder.read_launch()) read_console(id, *launch);
  if (record.exit) return set_exit(id, *record.exit);
  if (record.boot != boot_id())
    return set_exit(id, {0, SIGKILL, "the node was restarted", ExitCause::node_restarted});
  AdoptedShim shim = adopt_shim(folder.path());
  const bool has_run = record.pid > 0;
  const bool says_not = shim.state == ShimState::unborn || shim.state == ShimState::starting;
  if (has_run && says_not) return ended(id);  // its program has deleted or emptied shim.lock
  switch (shim.state) {
    case ShimState::gone:
      return ended(id);
    case ShimState::unborn:
      return drop_unborn(id);
    case ShimState::starting:
      return spawn(executor_, "adopt " + to_string(id), adopt_later(id));
    case ShimState::alive:
      process.state = TaskState::running;
      task.record.pid = shim.program;
      spdlog::info("task {} still runs (pid {}): adopted", to_string(id), shim.program);
      return watch(id, std::move(shim.pidfd), Fd());
  }
}

// The earlier agent ended between writing the record and starting the program: the task may still be started,
// once.
void Supervisor::drop_unborn(TaskId id) {
  console_.drop(id);
  tasks_.at(id).folder->remove();
  tasks_.erase(id);
  table_.processes.erase(id);
}

asio::awaitable<void> Supervisor::adopt_later(TaskId id) {
  asio::steady_timer pause(executor_, 20ms);
  co_await pause.async_wait(asio::use_awaitable);
  try_to_adopt(id);
  act_soon();
}

}  // namespace podium
