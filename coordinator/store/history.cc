#include "coordinator/store/history.h"

namespace podium {
namespace {

// Tasks report their checkpoints themselves, in more detail; a retry only matters where it has to wait.
bool is_news(const Event& event) {
  if (const auto* retry = std::get_if<RetryPlanned>(&event.body)) return retry->not_before.has_value();
  if (const auto* staging = std::get_if<TaskStaging>(&event.body)) return !staging->over;
  return !std::holds_alternative<CheckpointNoted>(event.body) &&
         !std::holds_alternative<TaskListed>(event.body);
}

std::string level_of(const Event& event) {
  if (const auto* job = std::get_if<JobStateChanged>(&event.body))
    return job->to == JobState::failed ? "error" : "info";
  if (const auto* exited = std::get_if<TaskExited>(&event.body))
    return exited->exit.succeeded() ? "info" : "warning";
  if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    const bool bad = ended->end == AttemptEnd::failed || ended->end == AttemptEnd::node_lost ||
                     ended->end == AttemptEnd::walltime;
    return bad ? "warning" : "info";
  }
  return std::holds_alternative<TaskLost>(event.body) ? "warning" : "info";
}

}  // namespace

History::History(Database& database)
    : insert_(database, "INSERT INTO history (job, time_ms, type, level, text) VALUES (?1, ?2, ?3, ?4, ?5)") {
}

void History::add(JobId job, Time time, const std::string& type, const std::string& level,
                  const std::string& text) {
  insert_.run(job.value, to_millis(time), type, level, text);
}

void History::add(const Event& event) {
  const auto job = job_of(event);
  if (job && is_news(event))
    add(*job, event.at, std::string(type_of(event)), level_of(event), describe(event));
}

}  // namespace podium
