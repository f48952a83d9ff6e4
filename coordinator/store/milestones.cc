#include "coordinator/store/milestones.h"

#include <spdlog/fmt/fmt.h>

#include <limits>

namespace podium {
namespace {

constexpr std::size_t kTargetsCached = 256;  // jobs whose targets are kept in mind

}  // namespace

Milestones::Milestones(Database& db, WebhookRows& webhooks)
    : database_(db),
      webhooks_(webhooks),
      history_(db),
      board_(db),
      find_target_(db,
                   "SELECT target_metric, target_at_least, target_at_most FROM jobs"
                   " WHERE id = ?1 AND target_reached_ms IS NULL"),
      reach_target_(
          db,
          "UPDATE jobs SET target_reached_ms = max(?2, coalesce(started_ms, ?2)), target_reached_step = ?3"
          " WHERE id = ?1 AND target_reached_ms IS NULL AND target_metric = ?4"),
      put_progress_(db,
                    "UPDATE jobs SET step = ?3, steps = coalesce(?4, steps), progress_ms = ?5"
                    " WHERE id = ?1 AND attempt = ?2"),
      attempt_progress_(db,
                        "UPDATE attempts SET last_step = max(?3, coalesce(last_step, 0))"
                        " WHERE job = ?1 AND number = ?2"),
      last_step_(db, "SELECT last_step FROM attempts WHERE job = ?1 AND number = ?2") {}

// For every job, because users' own programs do not report targets.
const Milestones::Target& Milestones::target_of(JobId job) {
  if (const auto known = targets_.find(job); known != targets_.end()) return known->second;
  if (targets_.size() >= kTargetsCached) targets_.clear();
  constexpr double kAny = std::numeric_limits<double>::infinity();
  Target& target = targets_[job];
  for (find_target_.start(job.value); find_target_.next();)
    target = {find_target_.text(0), find_target_.optional_real(1).value_or(-kAny),
              find_target_.optional_real(2).value_or(kAny)};
  return target;
}

bool Milestones::take(JobId job, Time time, std::int64_t step, std::string_view metric, double value) {
  const Target& target = target_of(job);
  if (metric != target.metric || !(value >= target.at_least && value <= target.at_most)) return false;
  return reach(job, time, step, std::string(metric), value);
}

bool Milestones::reach(JobId job, Time time, std::int64_t step, const std::string& metric, double value) {
  reach_target_.run(job.value, to_millis(time), step, metric);
  if (sqlite3_changes(database_.handle()) == 0) return false;
  targets_.erase(job);
  board_.put(job);
  history_.add(job, time, "target_reached", "info",
               fmt::format("{} reached its target with {:.6g} at step {}", metric, value, step));
  webhooks_.take(target_reached(job, time, metric, value, step));
  return true;
}

void Milestones::put(AttemptId attempt, const ProgressTold& progress) {
  put_progress_.run(attempt.job.value, attempt.number, progress.step, progress.steps,
                    to_millis(progress.updated));
  attempt_progress_.run(attempt.job.value, attempt.number, progress.step);
}

std::optional<std::int64_t> Milestones::last_step(AttemptId attempt) {
  std::optional<std::int64_t> step;
  for (last_step_.start(attempt.job.value, attempt.number); last_step_.next();)
    step = last_step_.optional_integer(0);
  return step;
}

}  // namespace podium
