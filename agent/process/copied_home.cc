#include "agent/process/copied_home.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <vector>

#include "agent/process/home_id.h"
#include "agent/process/task_folder.h"

namespace podium {
namespace {

void leave_to_original(const TaskFolder& folder) {
  TaskRecord record = folder.read_record();
  if (record.exit || folder.read_exit()) return;
  record.exit = TaskExit{
      0, SIGKILL, "the agent's home folder is a copy of another one, which had the task when it was copied",
      ExitCause::no_record};
  folder.write_record(record);
}

}  // namespace

bool part_from_original(const std::filesystem::path& home) {
  if (!has_copied_id(home)) return false;
  std::vector<std::filesystem::path> strange;
  for (const TaskId task : find_tasks(home, strange)) {
    try {
      leave_to_original(TaskFolder(home, task));
    } catch (const std::exception& error) {
      spdlog::warn("task {}: {}", to_string(task), error.what());  // whoever takes it up finds no process
    }
  }
  renew_home_id(home);  // last: what a crash leaves is still told to be a copy
  return true;
}

}  // namespace podium
