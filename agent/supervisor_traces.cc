// How the Supervisor keeps what NCCL's flight recorder wrote of a task that failed: in the shared folder,
// where the traces of all ranks lie side by side, and outlive the task's folder.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "agent/process/shared_fence.h"
#include "agent/supervisor.h"

namespace podium {
namespace {

bool has_traces(const std::filesystem::path& folder) {
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone))
    if (entry->path().filename().string().starts_with(kTraceFiles)) return true;
  return false;
}

}  // namespace

void Supervisor::keep_traces_of(TaskId id) {
  SupervisedTask& task = tasks_.at(id);
  if (!task.folder || task.record.exit->succeeded() || task.record.traced || task.tracing) return;
  if (!has_traces(task.folder->path())) return;
  Collection collection;
  collection.task = id;
  collection.task_folder = collection.folder = task.folder->path();
  collection.globs = {std::string(kTraceFiles) + "*"};
  collection.to = shared_job_folder(jobs_folder(), id.attempt.job) / "traces";
  collection.limits = config_.output_limits;
  task.tracing = true;
  traces_.collect(std::move(collection));
}

void Supervisor::traces_told(TaskId id, const OutputsTold& told) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;  // of a cluster that this agent has left
  SupervisedTask& task = found->second;
  const std::string text = "traces of NCCL's flight recorder: " + told.message;
  spdlog::info("task {}: {}", to_string(id), text);
  try {
    if (task.folder) task.folder->tell(text, told.level);
  } catch (const std::system_error& error) {
    save_troubles_.failed(std::string(error.what()) + "; the history of the job does not have its traces");
  }
  task.tracing = false;
  task.record.traced = true;
  save(task);
  check_delivered(id);
}

}  // namespace podium
