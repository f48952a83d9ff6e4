#include "coordinator/tracking/time_to_train.h"

namespace podium {

std::optional<double> time_to_train_seconds(const TrainingSpan& span) {
  std::optional<Time> trained = span.target_reached;
  if (!span.has_target && span.state == JobState::succeeded) trained = span.ended;
  if (!span.first_start || !trained) return std::nullopt;
  return std::chrono::duration<double>(*trained - *span.first_start).count();
}

}  // namespace podium
