#include "coordinator/core/state/job.h"

#include "common/base/check.h"
#include "common/model/stopping.h"
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
  return last_call(job);
}

Time last_call(const Job& job) {
  return job.attempt->created + std::max(job.request.walltime - job.request.before_walltime, Duration{});
}

// What is asked for is for saving. Ranks whose gang is broken can save nothing together, and most of them
// hang.
Duration grace_for(const Job& job, StopCause cause, Time now) {
  const Duration own = job.request.grace;
  switch (cause) {
    case StopCause::task_failed:
    case StopCause::node_lost:
    case StopCause::not_started:
      return std::min(own, kUsualGrace);
    case StopCause::walltime:
      return std::max(own, job.attempt->created + job.request.walltime - now);
    case StopCause::none:
    case StopCause::preempted:
    case StopCause::cancelled:
    case StopCause::requeued:
    case StopCause::resized:
    case StopCause::paused:
      return own;
  }
  PODIUM_CHECK(false, "unknown StopCause");
}

std::optional<Time> next_deadline(const Job& job, const Limits& limits) {
  if (!job.attempt) return std::nullopt;
  if (job.attempt->stopping) return *job.attempt->stopping + stop_within(*job.attempt, limits);
  if (job.state != JobState::starting) return std::nullopt;
  const std::optional<Time> ready = ready_to_start(*job.attempt);
  return ready ? std::optional(*ready + start_within(*job.attempt, limits)) : std::nullopt;
}

std::optional<Time> ready_to_start(const Attempt& attempt) {
  if (attempt.staging > 0) return std::nullopt;
  return std::max(attempt.created, attempt.staged.value_or(attempt.created));
}

Duration start_within(const Attempt& attempt, const Limits& limits) {
  return limits.start_within + fence_wait(attempt, limits);
}

Duration stop_within(const Attempt& attempt, const Limits& limits) {
  return stopping::ends_within(limits.stop_within, attempt.grace);
}

Duration fence_wait(const Attempt& attempt, const Limits& limits) {
  return attempt.fenced && limits.shared ? lease::fence_wait(limits.lease) : Duration{0};
}

}  // namespace podium
