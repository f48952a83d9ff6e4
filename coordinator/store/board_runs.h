// Puts a run that has reached its target on the record board, once for each job. Called when the target is
// reached and again when the job ends, because the start of the run may become known after its target.
#pragma once

#include "common/base/id.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class BoardRuns {
 public:
  explicit BoardRuns(Database& database)
      : put_(database,
             "INSERT INTO board_runs (job, benchmark, started_ms, reached_ms, attempts, devices, "
             "nodes,"
             " models, versions, artificial, shared)"
             " SELECT job, benchmark, started_ms, reached_ms, attempts, devices, nodes, models, versions, "
             "artificial,"
             " shared FROM benchmark_runs WHERE job = ?1"
             " AND NOT EXISTS (SELECT 1 FROM board_runs WHERE board_runs.job = ?1)") {}

  void put(JobId job) { put_.run(job.value); }

 private:
  Statement put_;
};

}  // namespace podium
