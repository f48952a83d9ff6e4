// Reader: jobs and their attempts.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "coordinator/core/names.h"
#include "coordinator/store/reader_impl.h"
#include "coordinator/tracking/time_to_train.h"

namespace podium {
namespace {

constexpr int kMostLatest = 50;  // metrics in a job's view

constexpr const char* kJobColumns =
    "SELECT id, experiment, name, devices, per_node, kind, walltime_ms, priority, max_restarts, command,"
    " state, labels, submitted_ms, started_ms, ended_ms, attempt, reason, step, steps, progress_ms,"
    " target_metric, target_at_least, target_at_most, target_reached_ms, target_reached_step, account, sizes,"
    " held_devices FROM "
    "jobs ";

std::optional<Time> time_of(std::optional<std::int64_t> millis) {
  return millis ? std::optional(from_millis(*millis)) : std::nullopt;
}

std::optional<double> number_of(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// The filter as SQL. Only literals and parameters: what a user typed is always bound, never spliced.
struct Where {
  std::string sql = "WHERE 1";
  std::vector<std::string> texts;  // bound from ?1 on
};

Where where_of(const JobFilter& filter) {
  Where where;
  const auto bound = [&where](std::string text) {
    where.texts.push_back(std::move(text));
    return "?" + std::to_string(where.texts.size());
  };
  if (!filter.states.empty()) {
    std::string names;
    for (const JobState state : filter.states)
      names += (names.empty() ? "'" : ",'") + std::string(to_string(state)) + "'";
    where.sql += " AND state IN (" + names + ")";
  }
  if (filter.experiment) where.sql += " AND experiment = " + std::to_string(filter.experiment->value);
  if (!filter.name.empty()) where.sql += " AND instr(name, " + bound(filter.name) + ") > 0";
  if (!filter.label_key.empty()) {
    const std::string key = bound(filter.label_key);
    where.sql += " AND EXISTS (SELECT 1 FROM json_each(labels) WHERE key = " + key +
                 " AND value = " + bound(filter.label_value) + ")";
  }
  if (!filter.account.empty()) {
    const std::string account =
        bound(filter.account);  // below it: between "nlp/" and "nlp0", '0' following '/'
    where.sql += " AND (account = " + account + " OR (account > " + account + " || '/' AND account < " +
                 account + " || '0'))";
  }
  return where;
}

Statement& start_with(Statement& statement, const Where& where) {
  statement.start();
  for (std::size_t i = 0; i < where.texts.size(); ++i)
    statement.bind(static_cast<int>(i) + 1, where.texts[i]);
  return statement;
}

}  // namespace

std::vector<JobId> Reader::Impl::jobs_of(ExperimentId experiment) {
  Statement rows(database, "SELECT id FROM jobs WHERE experiment = ?1 ORDER BY id");
  std::vector<JobId> jobs;
  for (rows.start(experiment.value); rows.next();) jobs.push_back({rows.integer(0)});
  return jobs;
}

JobView Reader::Impl::job_row(Statement& row) {
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
  add_latest(job);
  return job;
}

void Reader::Impl::add_latest(JobView& job) {
  Statement rows(database,
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

std::optional<JobView> Reader::job(JobId id) {
  Statement row(impl_->database, std::string(kJobColumns) + "WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return impl_->job_row(row);
}

JobPage Reader::jobs(const JobFilter& filter) {
  Where where = where_of(filter);
  JobPage page;
  Statement count(impl_->database, "SELECT count(*) FROM jobs " + where.sql);
  start_with(count, where).next();
  page.total = count.integer(0);

  const std::string direction = filter.oldest_first ? "ASC" : "DESC";
  if (filter.after)
    where.sql += (filter.oldest_first ? " AND id > " : " AND id < ") + std::to_string(filter.after->value);
  Statement rows(impl_->database, kJobColumns + where.sql + " ORDER BY id " + direction + " LIMIT " +
                                      std::to_string(filter.limit + 1));
  for (start_with(rows, where); rows.next();) {
    if (std::ssize(page.jobs) == filter.limit) {
      page.more = true;
      break;
    }
    page.jobs.push_back(impl_->job_row(rows));
  }
  return page;
}

std::map<JobState, std::int64_t> Reader::job_counts() {
  Statement rows(impl_->database, "SELECT state, count(*) FROM jobs GROUP BY state");
  std::map<JobState, std::int64_t> counts;
  for (rows.start(); rows.next();) counts[job_state_from(rows.text(0))] = rows.integer(1);
  return counts;
}

std::optional<std::string> Reader::job_spec(JobId id) {
  Statement row(impl_->database, "SELECT spec FROM jobs WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return row.text(0);
}

int Reader::newest_attempt(JobId id) {
  Statement row(impl_->database, "SELECT max(attempt, attempts_told) FROM jobs WHERE id = ?1");
  return row.start(id.value).next() ? row.small(0) : 0;
}

std::optional<SubmittedJob> Reader::submitted(JobId id) {
  Statement row(impl_->database, "SELECT spec, submitted_ms FROM jobs WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  return SubmittedJob{row.text(0), from_millis(row.integer(1))};
}

std::vector<AttemptView> Reader::attempts(JobId job) {
  Statement rows(
      impl_->database,
      "SELECT number, created_ms, started_ms, ended_ms, end, reason, first_step, last_step FROM attempts"
      " WHERE job = ?1 ORDER BY number");
  Statement tasks(
      impl_->database,
      "SELECT rank, node, device, phase, pid, exit_code, exit_signal, exit_message, exit_cause FROM tasks"
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
                    tasks.small(2),   enum_value(kTaskPhases, tasks.text(3), "phase"),
                    tasks.integer(4), std::nullopt};
      if (!tasks.is_null(5))
        task.exit = TaskExit{tasks.small(5), tasks.small(6), tasks.text(7), exit_cause_from(tasks.text(8))};
      attempt.tasks.push_back(std::move(task));
    }
    all.push_back(std::move(attempt));
  }
  return all;
}

}  // namespace podium
