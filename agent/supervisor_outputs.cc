// How the Supervisor has the outputs of ended tasks collected. A task is not forgotten before.
#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

#include "agent/process/shared_fence.h"
#include "agent/process/shim_protocol.h"
#include "agent/supervisor.h"

namespace podium {
namespace {

// In the folder of a task, beside what its program writes. Some hold secrets.
std::set<std::string> names_of_the_agent(const TaskFolder& folder) {
  std::set<std::string> names{"code",           "inputs",        folder.launch_path().filename(),
                              "task.json",      shim::kLockFile, shim::kExitFile,
                              shim::kExitDraft, shim::kLeaseFile};
  for (const StreamKind stream : kStreams) names.insert(folder.stream_path(stream).filename());
  return names;
}

}  // namespace

// Of a folder that is not the task's own one process of the node is enough.
void Supervisor::plan_outputs(SupervisedTask& task, const Launch& launch, const std::string& working_folder) {
  const TaskFolder folder(config_.home, launch.task);
  const bool is_own = (working_folder + "/").starts_with(folder.path().string() + "/");
  task.record.outputs = launch.spec.outputs;
  if (is_own || launch.local_rank == 0) task.record.working_folder = working_folder;
}

void Supervisor::collect_outputs_of(TaskId id) {
  const SupervisedTask& task = tasks_.at(id);
  if (task.is_collected()) return;
  Collection collection;
  collection.task = id;
  const ExitCause cause = task.record.exit->cause;
  const bool ran = cause != ExitCause::not_started && cause != ExitCause::cannot_run;
  if (ran) collection.folder = task.record.working_folder;
  collection.globs = task.record.outputs;
  collection.task_folder = task.folder->path();
  collection.left_out = names_of_the_agent(*task.folder);
  collection.to = shared_job_folder(jobs_folder(), id.attempt.job) / "outputs";
  collection.limits = config_.output_limits;
  outputs_.collect(std::move(collection));
}

void Supervisor::outputs_told(TaskId id, const OutputsTold& told) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;  // of a cluster that this agent has left
  SupervisedTask& task = found->second;
  spdlog::info("task {}: {}", to_string(id), told.message);
  try {
    if (task.folder) task.folder->tell(told.message, told.level);
  } catch (const std::system_error& error) {
    save_troubles_.failed(std::string(error.what()) + "; the history of the job does not have its outputs");
  }
  task.record.collected = true;
  save(task);
  check_delivered(id);
}

}  // namespace podium
