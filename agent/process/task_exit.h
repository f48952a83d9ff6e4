// Finds out how a task ended, once its shim has ended.
#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "agent/process/cgroup.h"
#include "agent/process/task_folder.h"

namespace podium {

// The exit that the shim wrote, with the program's last message where it failed. Where the shim was killed
// and wrote nothing, kills the processes that it watched, so that no process of an ended task lives; the
// cause is then `asked`, if the agent had told the task to leave.
TaskExit find_exit(TaskId id, const TaskFolder& folder, const std::optional<Cgroups>& cgroups,
                   std::optional<ExitCause> asked);

// Kills every process, shims included, of this home's tasks that are not `known`, and returns how many: their
// folder was deleted or replaced while they ran. Nothing can watch them, and they must not be alive when
// their job starts again.
int kill_strangers(const std::filesystem::path& home, const std::set<TaskId>& known);

}  // namespace podium
