#include "coordinator/store/pruner.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace podium {
namespace {

constexpr int kHistoryAtOnce = 1000;
constexpr int kChunksAtOnce = 32;

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

Pruner::Pruner(Database& database, const Retention& retention)
    : database_(database),
      retention_(retention),
      next_job_(database,
                "SELECT ended_ms, id FROM jobs WHERE ended_ms IS NOT NULL AND (ended_ms, id) > (?1, ?2)"
                " AND ended_ms <= ?3 ORDER BY ended_ms, id LIMIT 1"),
      delete_history_(database,
                      "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE job = ?1 LIMIT ?2)"),
      long_series_(database,
                   "SELECT id, (SELECT coalesce(sum(points), 0) FROM chunks WHERE series = s.id)"
                   " + (SELECT coalesce(sum(count), 0) FROM open_points WHERE series = s.id) AS size"
                   " FROM series s WHERE job = ?1 AND points > ?2"),
      chunks_(database) {}

bool Pruner::prune(Time now) {
  const std::int64_t now_ms = to_millis(now);
  return delete_history(now_ms - retention_.history.count()) ||
         thin_points(now_ms - retention_.points.count());
}

bool Pruner::next_job(Walk& walk, std::int64_t until) {
  bool found = false;
  for (next_job_.start(walk.ended_ms, walk.job, until); next_job_.next(); found = true)
    walk = {next_job_.integer(0), next_job_.integer(1)};
  return found;
}

bool Pruner::delete_history(std::int64_t until) {
  if (!deleting_ && !next_job(history_, until)) return false;
  delete_history_.run(history_.job, kHistoryAtOnce);
  deleting_ = sqlite3_changes(database_.handle()) == kHistoryAtOnce;
  return true;
}

bool Pruner::thin_points(std::int64_t until) {
  if (series_.empty()) {
    if (!next_job(points_, until)) return false;
    for (long_series_.start(points_.job, kPointsKept); long_series_.next();)
      if (long_series_.integer(1) > kPointsKept)
        series_.push_back(
            {long_series_.integer(0), long_series_.integer(1), std::numeric_limits<std::int64_t>::min()});
    return true;
  }
  try {
    if (!thin_piece()) series_.pop_front();
  } catch (...) {
    series_.pop_front();  // a page that cannot be read must not keep the others from being thinned
    throw;
  }
  return true;
}

// The next chunks of the series at hand, of whose points as large a part stays as of all, in one chunk; false
// at its end.
bool Pruner::thin_piece() {
  LongSeries& series = series_.front();
  Transaction transaction(database_);
  OpenChunk open = chunks_.open_chunk(series.id);
  if (open.points > 0) chunks_.merge(series.id, open, {});
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
