// The tasks that podium-worker trains. Nothing outside of this folder knows their names: the caller looks up
// the task that a spec means, lets it check the spec, and lets it read the job's text.
#pragma once

#include <filesystem>

#include "worker/data/reading.h"
#include "worker/train/task.h"

namespace podium {

struct TaskKind {
  TrainingTask task;
  ModelFamily family;
  // Throws Failure(bad_spec) if the spec lacks what the task needs.
  void (*check)(const JobSpec& spec);
  // Reads the job's text once for the tasks of all phases; relative paths begin at `data_folder`. Throws
  // BadData.
  TaskSource (*read)(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading,
                     int data_rank, int data_size);
};

// Throws Failure(bad_spec) if no task trains such a model.
const TaskKind& find_task(const JobSpec& spec);

}  // namespace podium
