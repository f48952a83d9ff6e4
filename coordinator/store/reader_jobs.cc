// Reader: jobs and their attempts.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "coordinator/core/events/names.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/time_to_train.h"

namespace podium {
namespace {

constexpr int kMostLatest = 50;        // metrics in a job's view
constexpr int kMostJobsListed = 1000;  // of an experiment

std::optional<Time> time_of(std::optional<std::int64_t> millis) {
  return millis ? std::optional(from_millis(*millis)) : std::nullopt;
}

void count(RestartCounts& counts, RestartCause cause) {
  switch (cause) {
    case RestartCause::none:
      return;
    case RestartCause::failure:
      ++counts.failures;
      return;
    case RestartCause::requeue:
      ++counts.requeues;
      return;
    case RestartCause::move:
      ++counts.moves;
      return;
    case RestartCause::node_loss:
      ++counts.node_losses;
      return;
    case RestartCause::preemption:
      ++counts.preemptions;
      return;
    case RestartCause::resize:
      ++counts.resizes;
      return;
    case RestartCause::promotion:
      ++counts.promotions;
      return;
  }
}

std::optional<double> number_of(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

}  // namespace

const char* const Reader::kJobColumns =
    "SELECT id, experiment, name, devices, per_node, kind, walltime_ms, priority, max_restarts, command,"
    " state, labels, submitted_ms, started_ms, ended_ms, attempt, reason, step, steps, progress_ms,"
    " target_metric, target_at_least, target_at_most, target_reached_ms, target_reached_step, account, sizes,"
    " held_devices, failures, tracked FROM jobs ";

// An experiment of runs that programs log has no end: the newest, as many as a submission may have.
std::vector<JobId> Reader::jobs_of(ExperimentId experiment) {
  Statement rows(
      *database_,
      "SELECT id FROM (SELECT id FROM jobs WHERE experiment = ?1 AND NOT deleted ORDER BY id DESC LIMIT ?2)"
      " ORDER BY id");
  std::vector<JobId> jobs;
  for (rows.start(experiment.value, kMostJobsListed); rows.next();) jobs.push_back({rows.integer(0)});
  return jobs;
}

JobView Reader::job_row(Statement& row) {
  JobView job;
  job.id = {row.integer(0)};
  job.experiment = {row.integer(1)};
  job.request = {row.text(2),  row.small(3), row.small(4),       row.text(5), Duration{row.integer(6)},
                 row.small(7), row.small(8), row.integer(9) != 0};
  job.request.account = row.text(25);
  job.request.sizes = nlohmann::json::parse(row.text(26)).get<std::vector<int>>();
  job.state = job_state_from(row.text(10));
  job.labels = row.text(11);
  job.submitted = from_millis(row.integer(12));
  job.started = time_of(row.optional_integer(13));
  job.ended = time_of(row.optional_integer(14));
  job.attempt = row.small(15);
  const bool waits = job.state == JobState::queued || row.small(27) == 0;
  job.devices = waits ? job.request.devices : row.small(27);
  job.restarts = std::max(0, job.attempt - 1);
  job.reason = row.text(16);
  if (!row.is_null(17))
    job.progress = Progress{row.integer(17), row.integer(18), from_millis(row.integer(19))};
  if (!row.is_null(20))
    job.target = TargetView{row.text(20),
                            row.optional_real(21),
                            row.optional_real(22),
                            std::nullopt,
                            std::nullopt,
                            time_of(row.optional_integer(23)),
                            row.optional_integer(24)};
  const auto reached = job.target ? job.target->reached : std::nullopt;
  job.time_to_train_seconds =
      time_to_train_seconds({job.started, job.target.has_value(), reached, job.state, job.ended});
  job.restarts_used = row.small(28);
  job.tracked = row.integer(29) != 0;
  add_latest(job);
  if (!job.tracked)
    add_attempts(job);
  else if (job.ended && job.started)
    job.ran = std::max(*job.ended - *job.started, Duration{});
  else
    job.running_since = job.started;
  return job;
}

void Reader::add_latest(JobView& job) {
  Statement rows(*database_,
                 "SELECT key, last_value, min_value, max_value FROM series WHERE job = ?1 AND"
                 " (key = ?3 OR id IN (SELECT id FROM series WHERE job = ?1 ORDER BY id LIMIT ?2))");
  const std::string target = job.target ? job.target->metric : "";
  for (rows.start(job.id.value, kMostLatest, target); rows.next();) {
    const std::string key = rows.text(0);
    job.latest[key] = rows.real(1);
    if (!job.target || job.target->metric != key) continue;
    job.target->latest = number_of(rows.real(1));
    job.target->best = number_of(job.target->at_least ? rows.real(3) : rows.real(2));
  }
}

void Reader::add_attempts(JobView& job) {
  Statement rows(*database_, "SELECT started_ms, ended_ms, restart FROM attempts WHERE job = ?1");
  for (rows.start(job.id.value); rows.next();) {
    const std::optional<Time> started = time_of(rows.optional_integer(0));
    const std::optional<Time> ended = time_of(rows.optional_integer(1));
    if (started && ended) job.ran += *ended - *started;
    if (!ended) job.running_since = started;
    count(job.restart_counts, enum_value(kRestartCauses, rows.text(2), "restart"));
  }
}

std::optional<JobView> Reader::job(JobId id) {
  Statement row(*database_, std::string(kJobColumns) + "WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return job_row(row);
}

std::optional<std::string> Reader::job_spec(JobId id) {
  Statement row(*database_, "SELECT spec FROM jobs WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return row.text(0);
}

std::optional<TextIdentity> Reader::text_of(JobId job) {
  Statement row(*database_, "SELECT tokens, sentences, xxh3 FROM texts WHERE job = ?1");
  if (!row.start(job.value).next()) return std::nullopt;
  return TextIdentity{row.integer(0), row.integer(1), row.text(2)};
}

std::optional<Origin> Reader::origin_of(JobId job) {
  Statement row(*database_, "SELECT path, step, xxh3 FROM origins WHERE job = ?1");
  if (!row.start(job.value).next()) return std::nullopt;
  return Origin{row.text(0), row.integer(1), row.text(2)};
}

int Reader::newest_attempt(JobId id) {
  Statement row(*database_, "SELECT max(attempt, attempts_told) FROM jobs WHERE id = ?1");
  return row.start(id.value).next() ? row.small(0) : 0;
}

std::optional<SubmittedJob> Reader::submitted(JobId id) {
  Statement row(*database_, "SELECT spec, submitted_ms FROM jobs WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return SubmittedJob{row.text(0), from_millis(row.integer(1))};
}

RunTimes Reader::run_times(JobId id) {
  RunTimes times;
  Statement steps(*database_,
                  "SELECT count(*), coalesce(sum(from_ms < ?1 AND to_ms <= ?1), 0) FROM clock_steps");
  Statement first(*database_,
                  "SELECT min(started_ms) FROM attempts WHERE job = ?1 AND first_step IS NOT NULL");
  if (first.start(id.value).next()) times.first_start = time_of(first.optional_integer(0));
  if (steps.start(times.first_start ? to_millis(*times.first_start) : 0).next()) {
    times.steps = steps.integer(0);
    times.first_steps = steps.integer(1);
  }
  return times;
}

std::vector<AttemptView> Reader::attempts(JobId job) {
  Statement rows(
      *database_,
      "SELECT number, created_ms, started_ms, ended_ms, end, reason, first_step, last_step FROM attempts"
      " WHERE job = ?1 ORDER BY number");
  Statement tasks(
      *database_,
      "SELECT rank, node, device, phase, pid, exit_code, exit_signal, exit_message, exit_cause, more_devices"
      " FROM tasks"
      " WHERE job = ?1 AND attempt = ?2 ORDER BY rank");
  std::vector<AttemptView> all;
  for (rows.start(job.value); rows.next();) {
    AttemptView attempt{rows.small(0),
                        from_millis(rows.integer(1)),
                        time_of(rows.optional_integer(2)),
                        time_of(rows.optional_integer(3)),
                        std::nullopt,
                        rows.text(5),
                        rows.optional_integer(6),
                        rows.optional_integer(7),
                        {}};
    if (!rows.is_null(4)) attempt.end = attempt_end_from(rows.text(4));
    for (tasks.start(job.value, attempt.number); tasks.next();) {
      TaskView task{tasks.small(0),   {tasks.text(1)},
                    {tasks.small(2)}, enum_value(kTaskPhases, tasks.text(3), "phase"),
                    tasks.integer(4), std::nullopt};
      const auto more = nlohmann::json::parse(tasks.text(9)).get<std::vector<int>>();
      task.devices.insert(task.devices.end(), more.begin(), more.end());
      if (!tasks.is_null(5))
        task.exit = TaskExit{tasks.small(5), tasks.small(6), tasks.text(7), exit_cause_from(tasks.text(8))};
      attempt.tasks.push_back(std::move(task));
    }
    all.push_back(std::move(attempt));
  }
  return all;
}

std::set<std::string> Reader::code_in_use() {
  Statement specs(*database_,
                  "SELECT DISTINCT json_extract(spec, '$.code.snapshot') FROM jobs"
                  " WHERE ended_ms IS NULL AND spec LIKE '%\"snapshot\"%'");
  std::set<std::string> hashes;
  for (specs.start(); specs.next();)
    if (!specs.is_null(0)) hashes.insert(specs.text(0));
  return hashes;
}

}  // namespace podium
