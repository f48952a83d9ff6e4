// How a task ended, found out after its shim has.
#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "agent/process/cgroup.h"
#include "agent/process/task_folder.h"

namespace podium {

// What the shim wrote, with the program's last words where it failed. When the shim was killed and wrote
// nothing, what it watched is killed here and now, so that no process of an ended task lives; `asked` is then
// why, where the agent itself had told the task to leave.
TaskExit find_exit(TaskId id, const TaskFolder& folder, const std::optional<Cgroups>& cgroups,
                   std::optional<ExitCause> asked);

// Kills every process of this home's tasks that are not `known`, their shims too, and returns how many: its
// folder was deleted or replaced while they ran. Nobody can watch them, and whoever starts their job again
// must not find them alive.
int kill_strangers(const std::filesystem::path& home, const std::set<TaskId>& known);

}  // namespace podium
