// What a model makes of a task's held-out text, which all ranks score together.
#pragma once

#include <filesystem>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/tensor/context.h"
#include "worker/train/engine.h"
#include "worker/train/task.h"

namespace podium {

// `counts_data`: of the ranks that share a data rank one counts its text. Collective over the world.
Findings findings_of_held_out(Task& task, Engine& engine, Context& context, Communicator& world,
                              bool counts_data);

// Throws Failure(disk_full).
void write_task_files(const std::filesystem::path& folder, const std::vector<TaskFile>& files);

}  // namespace podium
