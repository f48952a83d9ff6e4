// What is no longer kept by a time, of jobs that have ended: what the pruner and the log keeper take, and
// the checkpoints that nobody deletes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "coordinator/store/retention.h"

namespace podium {

struct CheckpointView {
  int attempt = 0;
  std::int64_t step = 0;
  Time time;
  std::string path;  // in the job's folder of checkpoints
  std::int64_t bytes = 0;
  double seconds = 0;  // that writing it took
};

struct DueQuery {
  Retention usual;
  Time by;
  std::string experiment;              // the name of those that are asked for; "": all
  std::optional<RetentionRule> as_if;  // of that experiment, in place of its rule
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
  std::optional<JobId> needed_by;           // which job goes on from them, so that none of them is due
};

struct DueSums {
  std::int64_t jobs = 0;  // of which anything goes
  std::int64_t points = 0, history = 0, log_bytes = 0, checkpoints = 0, checkpoint_bytes = 0;
};

struct RetentionDue {
  std::vector<DueJob> jobs;  // the first to end first
  DueSums all;               // also those beyond the limit
};

}  // namespace podium
