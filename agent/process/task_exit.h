// How a task ended, found out after its shim has.
#pragma once

#include <optional>

#include "agent/process/cgroup.h"
#include "agent/process/task_folder.h"

namespace podium {

// What the shim wrote, with the program's last words where it failed. When the shim was killed and wrote
// nothing, what it watched is killed here and now, so that no process of an ended task lives.
TaskExit find_exit(TaskId id, const TaskFolder& folder, const std::optional<Cgroups>& cgroups);

}  // namespace podium
