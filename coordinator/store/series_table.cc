#include "coordinator/store/series_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace podium {
namespace {

constexpr std::size_t kSeriesOfJobsCached = 256;

// By step, of each step the last that came.
void put_in_order(std::vector<StoredPoint>& points) {
  const auto same = [](const StoredPoint& a, const StoredPoint& b) { return a.step == b.step; };
  if (std::ranges::adjacent_find(points, std::ranges::greater_equal{}, &StoredPoint::step) == points.end())
    return;
  std::ranges::stable_sort(points, {}, &StoredPoint::step);
  points.erase(points.begin(), std::unique(points.rbegin(), points.rend(), same).base());
}

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
      chunks_(db) {}

SeriesTable::JobSeries& SeriesTable::job_series(JobId id) {
  if (const auto known = jobs_.find(id); known != jobs_.end()) return known->second;
  if (jobs_.size() >= kSeriesOfJobsCached) {
    write();
    jobs_.clear();
  }
  JobSeries& job = jobs_[id];
  for (count_series_.start(id.value); count_series_.next();) job.count = count_series_.integer(0);
  return job;
}

SeriesTable::State* SeriesTable::find(AttemptId attempt, std::string_view key, const SeriesLimits& limits) {
  JobSeries& job = job_series(attempt.job);
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
             {},
             {}};
    find_series_.start();
    state.open = chunks_.open_chunk(state.id);
  } else {
    if (job.count >= limits.most || key.empty() || key.size() > limits.longest) return nullptr;
    insert_series_.run(attempt.job.value, key);
    ++job.count;
    const double none = std::nan("");
    constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
    state = {database_.last_insert_id(), attempt.number, kBeforeAll, 0, none, none, none, 0, 0, 0, {}, {}};
  }
  return &job.known.emplace(std::string(key), state).first->second;
}

void SeriesTable::add(State& series, AttemptId attempt, const SeriesPoint& point) {
  const std::int64_t time_ms = to_millis(point.time);
  const bool is_first = series.points == 0 && series.fresh.empty();
  if (series.fresh.empty()) changed_.push_back(&series);
  series.fresh.push_back({point.step, time_ms, point.value, attempt.number});
  // fmin and fmax leave out a NaN.
  series.min = std::fmin(series.min, point.value);
  series.max = std::fmax(series.max, point.value);
  // What programs log belongs to no attempt: by its step alone it is before or after the others.
  const int of = attempt.number == 0 ? series.attempt : int{attempt.number};
  const int last = series.attempt == 0 ? of : series.attempt;
  series.attempt = std::max(series.attempt, of);
  if (!is_first && std::pair{of, point.step} < std::pair{last, series.last_step}) return;
  series.last_step = point.step;
  series.last_ms = time_ms;
  series.last = point.value;
}

void SeriesTable::widen(State& series, double value) {
  if (series.min <= value && value <= series.max) return;
  if (series.fresh.empty()) changed_.push_back(&series);
  series.min = std::fmin(series.min, value);
  series.max = std::fmax(series.max, value);
}

void SeriesTable::write_points(State& series) {
  std::vector<StoredPoint> points = std::exchange(series.fresh, {});
  put_in_order(points);
  const std::int64_t first = points.front().step, last = points.back().step;
  const bool is_new = series.points == 0;
  const bool follows = is_new || first > series.top_step;
  series.points += follows ? chunks_.append(series.id, series.open, points)
                           : chunks_.merge(series.id, series.open, points);
  series.first_step = is_new ? first : std::min(series.first_step, first);
  series.top_step = is_new ? last : std::max(series.top_step, last);
}

void SeriesTable::write(State& series) {
  if (!series.fresh.empty()) write_points(series);
  update_series_.run(series.id, series.attempt, series.last_step, series.last_ms, series.last, series.min,
                     series.max, series.points, series.first_step, series.top_step);
}

void SeriesTable::write() {
  std::ranges::sort(changed_, {}, &State::id);  // in the order of the tables' keys
  for (State* series : changed_) write(*series);
  changed_.clear();
}

void SeriesTable::forget() {
  jobs_.clear();
  changed_.clear();
}

}  // namespace podium
