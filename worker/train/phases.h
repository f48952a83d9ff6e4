// One training in several phases, such as BERT's at sequence length 128 and then 512: tells which phase a
// step belongs to and what holds in the phase. Steps count from 1 through all phases; each phase begins its
// own schedule. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/spec.h"

namespace podium {

struct TrainingPhase {
  int index = 0;
  std::int64_t steps_before = 0;  // the phase's first step is steps_before + 1
  TrainingSpec training;          // with schedule, rate, batch, length and predictions of this phase

  std::int64_t last_step() const { return steps_before + training.schedule.steps; }
};

// Returns at least one phase; each begins where the one before ends.
std::vector<TrainingPhase> training_phases(const TrainingSpec& training);

// The phase of `step`; the last phase for steps beyond the end.
const TrainingPhase& phase_of(const std::vector<TrainingPhase>& phases, std::int64_t step);

}  // namespace podium
