// The Supervisor's ways to end a task, one harder than the other, and to forget it once its orders have.
#include <signal.h>
#include <spdlog/spdlog.h>

#include <system_error>

#include "agent/process/fence_file.h"
#include "agent/supervisor.h"

namespace podium {
namespace {

constexpr std::size_t kKeptFolders = 50;

}  // namespace

// Null while its shim is just being adopted: reconcile asks again then.
Task* Supervisor::advance(TaskId id, Stopping to, Time next_at) {
  Task& task = tasks_.at(id);
  if (!task.pidfd) return nullptr;
  Process& process = table_.processes.at(id);
  process.stopping = to;
  process.next_at = next_at;
  return &task;
}

void Supervisor::carry_out(const Terminate& terminate) {
  Task* const task = advance(terminate.task, Stopping::terminating, terminate.kill_at);
  if (!task) return;
  spdlog::info("task {}: SIGTERM ({})", to_string(terminate.task), to_string(terminate.cause));
  task->asked = terminate.cause;
  tell_shim(task->pidfd->native_handle(), SIGTERM, terminate.cause);
}

void Supervisor::carry_out(const Kill& kill) {
  Task* const task = advance(kill.task, Stopping::killing, kill.destroy_at);
  if (!task) return;
  spdlog::info("task {}: SIGKILL, because {}", to_string(kill.task), kill.reason);
  if (!task->asked) task->asked = ExitCause::ordered;
  tell_shim(task->pidfd->native_handle(), SIGUSR1, *task->asked);  // it also says how the program ended
}

void Supervisor::carry_out(const Destroy& destroy) {
  Task* const task = advance(destroy.task, Stopping::destroying, {});
  if (!task) return;
  spdlog::warn("task {}: its podium-shim does not kill it; the agent does", to_string(destroy.task));
  if (cgroups_) cgroups_->kill(destroy.task);
  signal_pidfd(task->pidfd->native_handle(), SIGKILL);
}

void Supervisor::carry_out(const Forget& forget) {
  raise_fence(config_.home, table_.forgotten, forget.task.attempt);
  Task& task = tasks_.at(forget.task);
  if (task.folder) {
    task.record.forgotten = true;
    task.folder->write_record(task.record);
    keep(forget.task);
  }
  tasks_.erase(forget.task);
  table_.processes.erase(forget.task);
  spdlog::info("task {}: forgotten", to_string(forget.task));
  changed();
  act_soon();
}

// The newest folders stay for people to look into.
void Supervisor::keep(TaskId id) {
  kept_.push_back(id);
  if (kept_.size() <= kKeptFolders) return;
  const TaskFolder oldest(config_.home, kept_.front());
  kept_.pop_front();
  try {
    oldest.remove();
  } catch (const std::system_error& error) {
    spdlog::warn("{}: a folder of an ended task stays; remove it by hand", error.what());
  }
}

}  // namespace podium
