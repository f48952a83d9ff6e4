#include "worker/train/resume.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <vector>

#include "worker/data/failure.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

// A job that goes on from another's end must have something to do, and says so where its schedule is another.
void check_steps_are_left(const CheckpointState& loaded, const ResumingRun& run, Progress& progress) {
  const std::int64_t then = training_phases(loaded.spec.training).back().last_step();
  if (loaded.step >= run.last_step)
    throw Failure(
        WorkerExit::bad_spec,
        fmt::format("cannot resume: the run in {} has taken {} of its {} steps and this one ends at "
                    "{}, so that nothing is left to train; raise training.schedule.steps (of the "
                    "last phase) until the training ends after step {}",
                    run.other_folder.string(), loaded.step, then, run.last_step, loaded.step));
  if (then != run.last_step)
    progress.note("info", fmt::format("the other run was to end at step {} and this one ends at {}: from "
                                      "here on the learning rate follows this one's schedule",
                                      then, run.last_step));
}

CheckpointState load_of_other_job(const ResumingRun& run, CheckpointStore& checkpoints,
                                  const CheckpointTensors& tensors, Progress& progress,
                                  std::vector<std::string>& problems) {
  CheckpointState loaded =
      checkpoints.load_newest_of(run.other_folder, run.spec, run.text, tensors, problems);
  check_steps_are_left(loaded, run, progress);
  loaded.target_reached = false;  // that was the other job's goal
  progress.note("info", fmt::format("goes on from step {} of {}", loaded.step, run.other_folder.string()));
  return loaded;
}

std::optional<CheckpointState> load(const ResumingRun& run, CheckpointStore& checkpoints,
                                    const CheckpointTensors& tensors, Progress& progress,
                                    std::vector<std::string>& problems) {
  const std::size_t before = problems.size();
  if (auto loaded = checkpoints.load_newest(run.spec, run.text, tensors, problems)) return loaded;
  if (!run.other_folder.empty()) return load_of_other_job(run, checkpoints, tensors, progress, problems);
  if (problems.size() > before)
    problems.push_back("no checkpoint is whole: beginning anew, as the spec says");
  return std::nullopt;
}

}  // namespace

std::optional<CheckpointState> load_checkpoint(const ResumingRun& run, CheckpointStore& checkpoints,
                                               const CheckpointTensors& tensors, Progress& progress) {
  std::vector<std::string> problems = checkpoints.take_warnings();
  const auto tell = [&] {
    for (const std::string& problem : problems) progress.note("warning", problem);
  };
  try {
    auto loaded = load(run, checkpoints, tensors, progress, problems);
    tell();
    return loaded;
  } catch (const Failure&) {
    tell();
    throw;
  }
}

}  // namespace podium
