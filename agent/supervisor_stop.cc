// How the Supervisor ends a task, by increasingly hard means, and forgets it once its orders have.
#include <signal.h>
#include <spdlog/spdlog.h>

#include <system_error>

#include "agent/process/fence_file.h"
#include "agent/supervisor.h"

namespace podium {

// Null while its shim is being adopted: reconcile then asks again.
SupervisedTask* Supervisor::advance(TaskId id, Stopping to, Time next_at) {
  SupervisedTask& task = tasks_.at(id);
  if (!task.pidfd) return nullptr;
  Process& process = table_.processes.at(id);
  process.stopping = to;
  process.next_at = next_at;
  return &task;
}

void Supervisor::carry_out(const TerminateTask& terminate) {
  SupervisedTask* const task = advance(terminate.task, Stopping::terminating, terminate.kill_at);
  if (!task) return;
  spdlog::info("task {}: told to leave ({})", to_string(terminate.task), to_string(terminate.cause));
  task->asked = terminate.cause;
  task->record.kill_by = terminate.kill_at;
  save(*task);  // the next agent holds to it
  tell_shim(task->pidfd->native_handle(), SIGTERM, terminate.cause);
}

void Supervisor::carry_out(const KillTask& kill) {
  SupervisedTask* const task = advance(kill.task, Stopping::killing, kill.destroy_at);
  if (!task) return;
  spdlog::info("task {}: SIGKILL, because {}", to_string(kill.task), kill.reason);
  if (!task->asked) task->asked = ExitCause::ordered;
  tell_shim(task->pidfd->native_handle(), SIGUSR1, *task->asked);  // it also says how the program ended
}

void Supervisor::carry_out(const DestroyTask& destroy) {
  SupervisedTask* const task = advance(destroy.task, Stopping::destroying, {});
  if (!task) return;
  spdlog::warn("task {}: its podium-shim does not kill it; the agent does", to_string(destroy.task));
  if (cgroups_) cgroups_->kill(destroy.task);
  signal_pidfd(task->pidfd->native_handle(), SIGKILL);
}

void Supervisor::carry_out(const ForgetTask& forget) {
  SupervisedTask& task = tasks_.at(forget.task);
  raise_fence_of(task);
  console_.drop(forget.task);
  if (task.folder) keep(task);
  tasks_.erase(forget.task);
  table_.processes.erase(forget.task);
  spdlog::info("task {}: forgotten", to_string(forget.task));
  changed();
  act_soon();
}

// Before its folder goes. Where there is no room, not even a reserve, what it wrote is the first to go.
void Supervisor::raise_fence_of(const SupervisedTask& task) {
  const AttemptId attempt = task.record.task.attempt;
  try {
    raise_fence(room_, table_.forgotten, attempt);
  } catch (const std::system_error& error) {
    if (!task.folder || !is_no_room(error)) throw;
    task.folder->empty_streams();
    raise_fence(room_, table_.forgotten, attempt);
  }
}

// The fence is on disk: where there is no room to record that the folder is kept, the folder is deleted.
void Supervisor::keep(SupervisedTask& task) {
  task.record.forgotten = true;
  try {
    room_.make_room_for([&] { task.folder->write_record(task.record); });
    room_.keep(task.record.task);
  } catch (const std::system_error& error) {
    if (!is_no_room(error)) throw;
    task.folder->remove();
  }
}

}  // namespace podium
