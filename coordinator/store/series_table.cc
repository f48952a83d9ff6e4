#include "coordinator/store/series_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace podium {
namespace {

constexpr std::size_t kJobsCached = 256;

}  // namespace

SeriesTable::SeriesTable(Database& db)
    : database_(db),
      count_series_(db, "SELECT count(*) FROM series WHERE job = ?1"),
      find_series_(
          db,
          "SELECT id, attempt, last_step, last_ms, last_value, min_value, max_value, points, first_step,"
          " top_step FROM series WHERE job = ?1 AND key = ?2"),
      insert_series_(db,
                     "INSERT INTO series (job, key, attempt, last_step, last_ms) VALUES (?1, ?2, 0, 0, 0)"),
      update_series_(
          db,
          "UPDATE series SET attempt = ?2, last_step = ?3, last_ms = ?4, last_value = ?5, min_value = ?6,"
          " max_value = ?7, points = ?8, first_step = ?9, top_step = ?10 WHERE id = ?1"),
      insert_point_(db, "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"),
      replace_point_(db,
                     "UPDATE points SET attempt = ?3, time_ms = ?4, value = ?5"
                     " WHERE series = ?1 AND step = ?2 AND attempt <= ?3") {}

SeriesTable::JobSeries& SeriesTable::job_series(JobId id) {
  if (const auto known = jobs_.find(id); known != jobs_.end()) return known->second;
  if (jobs_.size() >= kJobsCached) jobs_.clear();  // nothing is waiting to be written: that is of one job
  JobSeries& job = jobs_[id];
  for (count_series_.start(id.value); count_series_.next();) job.count = count_series_.integer(0);
  return job;
}

SeriesTable::State* SeriesTable::find(JobSeries& job, AttemptId attempt, std::string_view key) {
  if (const auto known = job.known.find(key); known != job.known.end()) return &known->second;
  State state;
  find_series_.start(attempt.job.value, key);
  if (find_series_.next()) {
    state = {find_series_.integer(0),
             find_series_.small(1),
             find_series_.integer(2),
             find_series_.integer(3),
             find_series_.real(4),
             find_series_.real(5),
             find_series_.real(6),
             find_series_.integer(7),
             find_series_.integer(8),
             find_series_.integer(9),
             false};
    find_series_.start();
  } else {
    if (job.count >= kMostMetrics || key.size() > kLongestMetricName) return nullptr;
    insert_series_.run(attempt.job.value, key);
    ++job.count;
    const double none = std::nan("");
    state = {database_.last_insert_id(), attempt.number, 0, 0, none, none, none, 0, 0, 0, true};
  }
  return &job.known.emplace(std::string(key), state).first->second;
}

bool SeriesTable::add(AttemptId attempt, std::string_view key, const SeriesPoint& point) {
  writing_ = attempt;
  State* series = find(job_series(attempt.job), attempt, key);
  if (!series) return false;
  const std::int64_t time_ms = to_millis(point.time);
  rows_.push_back({series, point.step, time_ms, point.value});
  series->changed = true;
  // fmin and fmax leave out a NaN.
  series->min = std::fmin(series->min, point.value);
  series->max = std::fmax(series->max, point.value);
  if (std::pair{int{attempt.number}, point.step} < std::pair{series->attempt, series->last_step}) return true;
  series->attempt = attempt.number;
  series->last_step = point.step;
  series->last_ms = time_ms;
  series->last = point.value;
  return true;
}

void SeriesTable::put(const Row& row, int attempt) {
  State& series = *row.series;
  insert_point_.run(series.id, row.step, attempt, row.time_ms, row.value);
  if (sqlite3_changes(database_.handle()) == 0)
    return replace_point_.run(series.id, row.step, attempt, row.time_ms, row.value);
  series.first_step = series.points == 0 ? row.step : std::min(series.first_step, row.step);
  series.top_step = series.points == 0 ? row.step : std::max(series.top_step, row.step);
  ++series.points;
}

void SeriesTable::write() {
  // In the order of the table's key, so that each series' rows go to neighbouring places; equal steps keep
  // their order.
  std::ranges::stable_sort(rows_, [](const Row& a, const Row& b) {
    return std::pair{a.series->id, a.step} < std::pair{b.series->id, b.step};
  });
  for (const Row& row : rows_) put(row, writing_.number);
  for (const Row& row : rows_) {
    State& series = *row.series;
    if (!std::exchange(series.changed, false)) continue;
    update_series_.run(series.id, series.attempt, series.last_step, series.last_ms, series.last, series.min,
                       series.max, series.points, series.first_step, series.top_step);
  }
  rows_.clear();
}

void SeriesTable::forget() {
  jobs_.clear();
  rows_.clear();
}

}  // namespace podium
