#include "common/model/kept_checkpoints.h"

namespace podium {

std::int64_t steps_of(const TrainingSpec& training) {
  std::int64_t steps = training.schedule.steps;
  for (const PhaseSpec& phase : training.phases) steps += phase.schedule.steps;
  return steps;
}

std::string why_never_kept(const JobSpec& spec, std::int64_t step) {
  const auto [every, keep, begin_anew, best] = spec.checkpoint;
  const std::int64_t steps = steps_of(spec.training);
  if (step > steps) return "it takes " + std::to_string(steps) + " steps alone";
  if (step < 1) return "a checkpoint is of step 1 or a later one";
  // An evaluation may save one at any step, and the target may end the training at any.
  if (step == steps || !best.empty() || spec.target) return "";
  if (every == 0) return "it saves at its end alone, at step " + std::to_string(steps);
  if (step % every != 0)
    return "it saves every " + std::to_string(every) + " steps and at its end, at step " +
           std::to_string(steps);
  const std::int64_t later = (steps - 1) / every - step / every + 1;
  if (later >= keep)
    return "it keeps the newest " + std::to_string(keep) + " of its checkpoints (checkpoint.keep)";
  return "";
}

}  // namespace podium
