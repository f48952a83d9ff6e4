// The tasks that podium-worker trains. Nothing outside of this folder knows their names: who trains looks up
// the one that a spec means, checks it, and has it read the job's text.
#pragma once

#include <filesystem>

#include "worker/data/reading.h"
#include "worker/train/task.h"

namespace podium {

struct TaskKind {
  TrainingTask task;
  ModelFamily family;
  // Throws Failure(bad_spec) where the spec lacks what the task needs.
  void (*check)(const JobSpec& spec);
  // Reads the job's text once for the tasks of all phases; relative paths begin at `data_folder`. Throws
  // BadData.
  TaskSource (*read)(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading,
                     int data_rank, int data_size);
};

// Throws Failure(bad_spec) where no task trains such a model.
const TaskKind& find_task(const JobSpec& spec);

}  // namespace podium
