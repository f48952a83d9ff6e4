// Updates the tables that the API reads, in the transaction that appends the events.
#pragma once

#include "coordinator/core/events/events.h"
#include "coordinator/store/board_runs.h"
#include "coordinator/store/sqlite.h"

namespace podium {

struct ExperimentText;
struct AttemptSecret;

class Projections {
 public:
  explicit Projections(Database& database);

  void take(const Event& event);
  // Call these after the events that create the experiment or the attempt.
  void take(const ExperimentText& text);
  void take(const AttemptSecret& secret);

 private:
  struct Visitor;

  JobId first_job(ExperimentId experiment);

  Statement insert_experiment_, insert_job_, insert_group_, insert_run_, no_study_, insert_attempt_,
      insert_task_;
  Statement job_attempt_, job_attempts_told_, job_state_, job_walltime_, job_priority_, job_failures_,
      job_started_, job_ended_, attempt_started_, attempt_ended_, attempt_recalled_;
  Statement task_started_, task_ended_;
  Statement insert_sweep_, insert_trial_, rung_reached_, trial_paused_, trial_recalled_, trial_promoted_,
      promoted_attempt_;
  Statement experiment_text_, first_job_, job_text_, job_params_, job_tags_, secret_;
  Statement node_hardware_;
  BoardRuns board_;
};

}  // namespace podium
