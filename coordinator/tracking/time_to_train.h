// Time-to-train: from the start of a job's first attempt to its target, including restarts and the waits
// between. A job without a target is trained once it has succeeded. Pure.
#pragma once

#include <optional>

#include "common/base/time.h"
#include "common/model/job.h"

namespace podium {

struct TrainingSpan {
  std::optional<Time> first_start;
  bool has_target = false;
  std::optional<Time> target_reached;
  JobState state = JobState::queued;
  std::optional<Time> ended;
};

std::optional<double> time_to_train_seconds(const TrainingSpan& span);

}  // namespace podium
