#include "coordinator/core/state/job.h"

#include "coordinator/core/state/names.h"

namespace podium {

std::string_view to_string(TaskPhase phase) { return enum_name(kTaskPhases, phase); }
std::string_view to_string(StopCause cause) { return enum_name(kStopCauses, cause); }

std::string describe(const Resize& resize) {
  return "from " + std::to_string(resize.from) + " to " + std::to_string(resize.to) +
         (resize.to == 1 ? " device" : " devices") +
         (resize.room_for ? " for job " + to_string(*resize.room_for) : "");
}

int Job::allocated_devices() const {
  if (!attempt) return 0;
  int devices = 0;
  for (std::size_t rank = 0; rank < attempt->tasks.size(); ++rank)
    if (attempt->is_allocated(rank)) devices += attempt->allocation.ranks[rank].devices();
  return devices;
}

int Allocation::devices() const {
  int devices = 0;
  for (const Placement& place : ranks) devices += place.devices();
  return devices;
}

const Task* find_task(const Attempt& attempt, int rank, const NodeId& node) {
  const auto index = static_cast<std::size_t>(rank);
  if (rank < 0 || index >= attempt.tasks.size()) return nullptr;
  return attempt.allocation.ranks[index].node == node ? &attempt.tasks[index] : nullptr;
}

std::optional<Time> next_timer(const Job& job) {
  if (!job.attempt) return job.not_before;
  if (job.attempt->stop != StopCause::none) return std::nullopt;
  return job.attempt->created + job.request.walltime;
}

std::optional<Time> next_deadline(const Job& job, const Limits& limits) {
  if (!job.attempt) return std::nullopt;
  if (job.attempt->stopping) return *job.attempt->stopping + limits.stop_within;
  if (job.state == JobState::starting) return job.attempt->created + start_within(*job.attempt, limits);
  return std::nullopt;
}

Duration start_within(const Attempt& attempt, const Limits& limits) {
  return limits.start_within + fence_wait(attempt, limits);
}

Duration fence_wait(const Attempt& attempt, const Limits& limits) {
  return attempt.fenced && limits.shared ? lease::fence_wait(limits.lease) : Duration{0};
}

}  // namespace podium
