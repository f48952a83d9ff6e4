// Data of ended jobs that is due for deletion by a time: what the pruner and the log keeper delete, and
// checkpoints, which Podium does not delete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/model/worker_event.h"
#include "coordinator/store/retention.h"

namespace podium {

struct CheckpointView {
  int attempt = 0;
  std::int64_t step = 0;
  Time time;
  std::string path;  // in the job's folder of checkpoints
  std::int64_t bytes = 0;
  double seconds = 0;                  // that writing it took
  std::optional<BestValue> best = {};  // where it is the best that the job has told of
};

struct DueQuery {
  Retention usual;
  Time by;
  std::string experiment;              // the name of the experiments; "": all
  std::optional<RetentionRule> as_if;  // a rule for that experiment, in place of its own
  std::size_t limit = 100;             // jobs
};

struct DueJob {
  JobId job;
  std::string name, experiment;
  Time ended;
  std::int64_t points = 0;   // about
  std::int64_t history = 0;  // lines
  std::int64_t log_bytes = 0;
  std::vector<CheckpointView> checkpoints;  // that a job has not deleted itself
  std::optional<JobId> needed_by;           // the job that continues from them: none is due
};

struct DueSums {
  std::int64_t jobs = 0;  // with any data due
  std::int64_t points = 0, history = 0, log_bytes = 0, checkpoints = 0, checkpoint_bytes = 0;
};

struct RetentionDue {
  std::vector<DueJob> jobs;  // in the order of their ends
  DueSums all;               // also those beyond the limit
};

}  // namespace podium
