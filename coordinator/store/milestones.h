// What a metric says of its job beside its curve: that the target is reached, and how far the training is.
// Whoever writes metrics tells it of each, be they a task's own or logged over MLflow's API. In the caller's
// transaction, on the writer's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/id.h"
#include "common/base/time.h"
#include "coordinator/store/board_runs.h"
#include "coordinator/store/history.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/store/webhook_rows.h"

namespace podium {

struct ProgressTold {
  std::int64_t step = 0;
  std::optional<std::int64_t> steps;  // in all; none: not reported
  Time updated;
};

class Milestones {
 public:
  Milestones(Database& database, WebhookRows& webhooks);

  // Whether this value reaches the job's target, for the first time.
  bool take(JobId job, Time time, std::int64_t step, std::string_view metric, double value);
  // Whether this is the first time that the job reaches its target.
  bool reach(JobId job, Time time, std::int64_t step, const std::string& metric, double value);

  void put(AttemptId attempt, const ProgressTold& progress);
  // As far as the attempt has told.
  std::optional<std::int64_t> last_step(AttemptId attempt);

  // Call after a rollback: drops the cache, which may hold what was never written.
  void forget() { targets_.clear(); }

 private:
  struct Target {
    std::string metric;  // "": none, or reached
    double at_least = 0, at_most = 0;
  };
  const Target& target_of(JobId job);

  Database& database_;
  WebhookRows& webhooks_;
  History history_;
  BoardRuns board_;
  Statement find_target_, reach_target_, put_progress_, attempt_progress_, last_step_;
  std::unordered_map<JobId, Target> targets_;
};

// Whether the steps of this metric are those of a training. A service's count spans of time, and those of
// MLflow's system metrics count samples.
inline bool tells_progress(std::string_view metric) {
  return !metric.starts_with("serve/") && !metric.starts_with("system/");
}

}  // namespace podium
