#include "coordinator/store/reader.h"

#include <algorithm>

#include "coordinator/store/run_reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

constexpr int kReaderCacheKib = 1024;

ExperimentView experiment_row(Statement& row) {
  return {{row.integer(0)}, row.text(1), from_millis(row.integer(2)), row.text(3), row.text(4),
          row.text(5),      {},          row.integer(6) != 0};
}

}  // namespace

Reader::Reader(const std::filesystem::path& home)
    : home_(home), database_(std::make_unique<Database>(home / "podium.db", Access::read, kReaderCacheKib)) {}

Reader::~Reader() = default;

RunReader& Reader::runs() {
  if (!runs_) runs_ = std::make_unique<RunReader>(*database_);
  return *runs_;
}

std::optional<ExperimentView> Reader::experiment(ExperimentId id) {
  Statement row(*database_,
                "SELECT id, name, created_ms, source, file, spec, listed FROM experiments WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  ExperimentView view = experiment_row(row);
  view.jobs = jobs_of(id);
  return view;
}

std::vector<ExperimentView> Reader::experiments(int limit, std::optional<ExperimentId> before) {
  Statement rows(*database_,
                 "SELECT id, name, created_ms, source, file, '', listed FROM experiments WHERE id < ?1"
                 " ORDER BY id DESC LIMIT ?2");
  std::vector<ExperimentView> views;
  for (rows.start(before ? before->value : INT64_MAX, limit); rows.next();)
    views.push_back(experiment_row(rows));
  for (ExperimentView& view : views) view.jobs = jobs_of(view.id);
  return views;
}

std::optional<ExperimentId> Reader::experiment_by_key(const std::string& key) {
  Statement row(*database_, "SELECT id FROM experiments WHERE idempotency_key = ?1");
  if (!row.start(key).next()) return std::nullopt;
  return ExperimentId{row.integer(0)};
}

std::vector<HistoryEntry> Reader::history(JobId job, std::int64_t after, int limit) {
  Statement rows(
      *database_,
      "SELECT id, time_ms, type, text, level FROM history WHERE job = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
  std::vector<HistoryEntry> entries;
  for (rows.start(job.value, after, limit); rows.next();)
    entries.push_back(
        {rows.integer(0), from_millis(rows.integer(1)), rows.text(2), rows.text(3), rows.text(4)});
  return entries;
}

std::vector<CheckpointView> Reader::checkpoints(JobId job) {
  Statement rows(*database_,
                 "SELECT attempt, step, time_ms, path, bytes, seconds, best_metric, best_value"
                 " FROM checkpoints WHERE job = ?1 ORDER BY attempt, step");
  std::vector<CheckpointView> saved;
  std::optional<std::pair<std::size_t, BestValue>> best;  // the last that was told as the best
  for (rows.start(job.value); rows.next();) {
    if (!rows.is_null(6)) best = {saved.size(), {rows.text(6), rows.real(7)}};
    saved.push_back({rows.small(0), rows.integer(1), from_millis(rows.integer(2)), rows.text(3),
                     rows.integer(4), rows.real(5)});
  }
  if (best) saved[best->first].best = best->second;
  return saved;
}

std::optional<CheckpointView> Reader::newest_checkpoint(JobId job) {
  Statement rows(*database_,
                 "SELECT attempt, step, time_ms, path, bytes, seconds FROM checkpoints WHERE job = ?1"
                 " ORDER BY attempt DESC, step DESC LIMIT 1");
  rows.start(job.value);
  if (!rows.next()) return std::nullopt;
  return CheckpointView{rows.small(0), rows.integer(1), from_millis(rows.integer(2)),
                        rows.text(3),  rows.integer(4), rows.real(5)};
}

std::vector<MetricSummary> Reader::metrics(JobId job) {
  Statement rows(
      *database_,
      "SELECT key, points, first_step, top_step, last_ms, last_value, min_value, max_value,"
      " (SELECT coalesce(sum(count), 0) FROM damaged_chunks d WHERE d.series = s.id) FROM series s"
      " WHERE job = ?1 AND (points > 0 OR EXISTS (SELECT 1 FROM damaged_chunks d WHERE d.series = s.id))"
      " ORDER BY key");
  std::vector<MetricSummary> all;
  for (rows.start(job.value); rows.next();)
    all.push_back({rows.text(0), rows.integer(1), rows.integer(2), rows.integer(3),
                   from_millis(rows.integer(4)), rows.real(5), rows.real(6), rows.real(7), rows.integer(8)});
  return all;
}

DamageView Reader::damage() {
  Statement row(*database_, "SELECT count(*), coalesce(sum(count), 0) FROM damaged_chunks");
  row.start().next();
  return {row.integer(0), row.integer(1)};
}

bool Reader::is_task_of(TaskId task, const NodeId& node) {
  Statement row(*database_,
                "SELECT 1 FROM tasks WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND node = ?4");
  return row.start(task.attempt.job.value, task.attempt.number, task.rank, node.value).next();
}

LogPart Reader::log(TaskId task, StreamKind stream, std::int64_t offset, std::int64_t limit) {
  return read_log(log_path(home_, task, stream), offset, limit, log_end(task, stream));
}

LogPart Reader::log_tail(TaskId task, StreamKind stream, std::int64_t bytes) {
  const std::int64_t end = log_end(task, stream);
  return read_log(log_path(home_, task, stream), std::max<std::int64_t>(0, end - bytes), bytes, end);
}

std::optional<std::int64_t> Reader::log_lines(TaskId task, StreamKind stream, std::int64_t lines,
                                              std::int64_t& budget) {
  return start_of_lines(log_path(home_, task, stream), lines, log_end(task, stream), budget);
}

std::int64_t Reader::log_end(TaskId task, StreamKind stream) {
  Statement row(
      *database_,
      "SELECT next FROM stream_offsets WHERE job = ?1 AND attempt = ?2 AND rank = ?3 AND stream = ?4");
  const bool known =
      row.start(task.attempt.job.value, task.attempt.number, task.rank, to_string(stream)).next();
  return known ? row.integer(0) : 0;
}

}  // namespace podium
