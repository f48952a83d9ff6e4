#include "coordinator/store/pruner.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "coordinator/store/retention_rules.h"

namespace podium {
namespace {

constexpr int kHistoryAtOnce = 1000;
constexpr int kChunksAtOnce = 32;
constexpr int kRepeatedAtOnce = 1000;

std::vector<StoredPoint> thinned(const std::vector<StoredPoint>& points, std::int64_t to) {
  Thinner thinner(points.size(), static_cast<int>(to));
  for (const StoredPoint& point : points)
    thinner.add(SeriesPoint{point.step, from_millis(point.time_ms), point.value});
  std::vector<StoredPoint> stay;
  auto at = points.begin();
  for (const SeriesPoint& kept : std::move(thinner).finish()) {
    at = std::ranges::lower_bound(at, points.end(), kept.step, {}, &StoredPoint::step);
    stay.push_back(*at);
  }
  return stay;
}

}  // namespace

Pruner::Pruner(Database& database, const Retention& usual)
    : database_(database),
      usual_(usual),
      next_job_(database,
                "SELECT j.done_ms, j.id FROM jobs j JOIN experiments e ON e.id = j.experiment"
                " LEFT JOIN retention_rules r ON r.experiment = e.name"
                " WHERE j.done_ms IS NOT NULL AND (j.done_ms, j.id) > (?1, ?2) AND j.done_ms <= ?3"
                " AND r.experiment IS ?4 ORDER BY j.done_ms, j.id LIMIT 1"),
      has_ended_(database, "SELECT 1 FROM jobs WHERE id = ?1 AND done_ms = ?2"),
      delete_history_(database,
                      "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE job = ?1 LIMIT ?2)"),
      delete_damaged_(database, "DELETE FROM damaged_chunks WHERE series = ?1"),
      long_series_(database,
                   "SELECT id, (SELECT coalesce(sum(points), 0) FROM chunks WHERE series = s.id)"
                   " + (SELECT coalesce(sum(count), 0) FROM open_points WHERE series = s.id) AS size"
                   " FROM series s WHERE job = ?1 AND points > ?2"),
      often_repeated_(database,
                      "SELECT id FROM series s WHERE job = ?1 AND EXISTS"
                      " (SELECT 1 FROM repeated_points WHERE series = s.id LIMIT 1 OFFSET ?2)"),
      delete_repeated_(
          database,
          "DELETE FROM repeated_points WHERE (series, step, time_ms, bits) IN"
          " (SELECT series, step, time_ms, bits FROM repeated_points WHERE series = ?1 LIMIT ?2)"),
      chunks_(database) {}

void Pruner::read_rules() {
  rules_ = {{std::nullopt, usual_}};
  for (const auto& [experiment, rule] : read_retention_rules(database_)) {
    Walk& walk = rules_.emplace_back(Walk{experiment, usual_});
    for (const Kept kept : kAllKept) walk.keep[kept] = rule[kept].value_or(usual_[kept]);
  }
}

void Pruner::rules_changed() {
  rules_.clear();
  next_walk_ = 0;
  deleting_ = false;
  series_.clear();
  repeated_.clear();
}

// Each search for the next job of a rule is a piece, because it may visit all jobs.
bool Pruner::prune(Time now) {
  if (rules_.empty()) read_rules();
  if (deleting_) return delete_history(), true;
  if (!series_.empty()) return thin(), true;
  if (!repeated_.empty()) return delete_repeated(), true;
  if (walk_on(rules_[next_walk_], now)) return true;
  next_walk_ = (next_walk_ + 1) % rules_.size();
  return next_walk_ != 0;
}

// False where nothing more of the rule's jobs is due.
bool Pruner::walk_on(Walk& walk, Time now) {
  if (next_job(walk, walk.history, to_millis(now - walk.keep[Kept::history]))) {
    history_ = walk.history;
    return delete_history(), true;
  }
  if (!next_job(walk, walk.points, to_millis(now - walk.keep[Kept::points]))) return false;
  points_ = walk.points;
  return begin_thinning(), true;
}

// Moves on to the next job that ended by then.
bool Pruner::next_job(const Walk& walk, Place& place, std::int64_t until) {
  if (until < place.ended_ms) return false;
  bool found = false;
  for (next_job_.start(place.ended_ms, place.job, until, walk.experiment); next_job_.next(); found = true)
    place = {next_job_.integer(0), next_job_.integer(1)};
  if (!found) place = std::max(place, Place{until - 1, INT64_MAX});  // at `until` another may yet end
  return found;
}

// Whether the job ended at that time and was not queued again.
bool Pruner::has_ended(const Place& place) {
  const bool ended = has_ended_.start(place.job, place.ended_ms).next();
  has_ended_.start();
  return ended;
}

void Pruner::delete_history() {
  deleting_ = false;
  if (!has_ended(history_)) return;
  delete_history_.run(history_.job, kHistoryAtOnce);
  deleting_ = sqlite3_changes(database_.handle()) == kHistoryAtOnce;
}

void Pruner::begin_thinning() {
  for (long_series_.start(points_.job, kThinnedFrom); long_series_.next();)
    if (long_series_.integer(1) > kThinnedFrom)
      series_.push_back(
          {long_series_.integer(0), long_series_.integer(1), std::numeric_limits<std::int64_t>::min()});
  for (const LongSeries& series : series_) delete_damaged_.run(series.id);
  for (often_repeated_.start(points_.job, kThinnedFrom); often_repeated_.next();)
    repeated_.push_back(often_repeated_.integer(0));
}

// Where there are many at the steps of a series, that of each step which is on its curve stays.
void Pruner::delete_repeated() {
  if (!has_ended(points_)) return repeated_.clear();
  delete_repeated_.run(repeated_.front(), kRepeatedAtOnce);
  if (sqlite3_changes(database_.handle()) < kRepeatedAtOnce) repeated_.pop_front();
}

void Pruner::thin() {
  if (!has_ended(points_)) return series_.clear();
  try {
    if (!thin_piece()) series_.pop_front();
  } catch (...) {
    series_.pop_front();  // a page that cannot be read must not keep the others from being thinned
    throw;
  }
}

// The next chunks of the series at hand, of whose points as large a part stays as of all, in one chunk; false
// at its end.
bool Pruner::thin_piece() {
  LongSeries& series = series_.front();
  Transaction transaction(database_);
  chunks_.close_open(series.id);
  std::vector<StoredPoint> points;
  for (int i = 0; i < kChunksAtOnce; ++i) {
    const std::vector<StoredPoint> more =
        chunks_.take_chunk(series.id, points.empty() ? series.next_step : points.back().step);
    if (more.empty()) break;
    points.insert(points.end(), more.begin(), more.end());
  }
  if (points.empty()) {
    transaction.commit();  // what was damaged is set aside
    return false;
  }
  chunks_.close(series.id, thinned(points, kPointsKept * std::ssize(points) / series.count));
  transaction.commit();
  if (points.back().step == INT64_MAX) return false;
  series.next_step = points.back().step + 1;
  return true;
}

}  // namespace podium
