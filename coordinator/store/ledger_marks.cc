#include "coordinator/store/ledger_marks.h"

namespace podium {

std::optional<MarkOfJob> mark_of(const Event& event) {
  if (const auto* e = std::get_if<JobQueued>(&event.body)) return MarkOfJob{e->job, {event.at}};
  if (const auto* e = std::get_if<AttemptCreated>(&event.body))
    return MarkOfJob{e->attempt.job,
                     {event.at, JobMarkKind::launching, e->attempt.number, e->allocation.devices(), {}}};
  if (const auto* e = std::get_if<AttemptStopping>(&event.body))
    return MarkOfJob{e->attempt.job,
                     {event.at, JobMarkKind::stopping, 0, 0, std::string(to_string(e->cause))}};
  const auto* e = std::get_if<JobStateChanged>(&event.body);
  if (!e) return std::nullopt;
  if (is_terminal(e->to)) return MarkOfJob{e->job, {event.at, JobMarkKind::ended}};
  if (e->to == JobState::queued) return MarkOfJob{e->job, {event.at}};
  if (e->to == JobState::running) return MarkOfJob{e->job, {event.at, JobMarkKind::started}};
  return std::nullopt;
}

LedgerMarks::LedgerMarks(Database& db)
    : database_(db),
      insert_mark_(db,
                   "INSERT INTO job_marks (job, n, time_ms, kind, attempt, devices, detail)"
                   " SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM job_marks WHERE job = ?1"),
      name_wait_(db,
                 "UPDATE job_marks SET detail = ?3 WHERE job = ?1 AND time_ms = ?2 AND kind = 'waiting'"
                 " AND detail = '' AND n = (SELECT max(n) FROM job_marks WHERE job = ?1)"),
      last_phase_(db, "SELECT max(n) FROM phase_marks WHERE job = ?1 AND attempt = ?2"),
      insert_phase_(db,
                    "INSERT INTO phase_marks (job, attempt, n, time_ms, phase, step)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
      open_(db, "INSERT OR IGNORE INTO ledger_open (job) VALUES (?1)") {}

void LedgerMarks::take(const Event& event) {
  const auto of_job = mark_of(event);
  if (!of_job) return;
  const JobMark& mark = of_job->mark;
  insert_mark_.run(of_job->job.value, to_millis(mark.at), to_string(mark.kind), mark.attempt, mark.devices,
                   mark.detail);
  open_.run(of_job->job.value);
}

// Names the wait that has just begun; a wait that continues gets a new name.
void LedgerMarks::take(const WaitMark& wait) {
  name_wait_.run(wait.job.value, to_millis(wait.since), wait.code);
  if (sqlite3_changes(database_.handle()) > 0) return;
  insert_mark_.run(wait.job.value, to_millis(wait.since), to_string(JobMarkKind::waiting), 0, 0, wait.code);
}

void LedgerMarks::take(JobId job, const PhaseMark& mark) {
  last_phase_.start(job.value, mark.attempt).next();
  const int n = last_phase_.small(0) + 1;
  last_phase_.start();
  if (n > kMostPhaseMarks) return;
  const LedgerKind phase = n < kMostPhaseMarks ? mark.phase : LedgerKind::unknown;
  insert_phase_.run(job.value, mark.attempt, n, to_millis(mark.at), to_string(phase), mark.step);
  open_.run(job.value);
}

std::map<JobId, std::string> LedgerMarks::waits() {
  Statement rows(database_,
                 "SELECT id, (SELECT detail FROM job_marks WHERE job = id ORDER BY n DESC LIMIT 1) FROM jobs"
                 " WHERE state = 'queued'");
  std::map<JobId, std::string> waits;
  for (rows.start(); rows.next();) waits[{rows.integer(0)}] = rows.text(1);
  return waits;
}

}  // namespace podium
