#include "worker/train/phases.h"

namespace podium {

std::vector<TrainingPhase> training_phases(const TrainingSpec& training) {
  TrainingPhase phase{0, 0, training};
  phase.training.phases.clear();
  std::vector<TrainingPhase> phases{phase};
  for (const PhaseSpec& next : training.phases) {
    phase.steps_before = phase.last_step();
    ++phase.index;
    phase.training.schedule = next.schedule;
    phase.training.optimizer.lr = next.lr;
    phase.training.batch = next.batch;
    phase.training.sequence_length = next.sequence_length;
    phase.training.masking.max_predictions = next.max_predictions;
    phases.push_back(phase);
  }
  return phases;
}

const TrainingPhase& phase_of(const std::vector<TrainingPhase>& phases, std::int64_t step) {
  for (const TrainingPhase& phase : phases)
    if (step <= phase.last_step()) return phase;
  return phases.back();
}

}  // namespace podium
