#include "coordinator/store/pruner.h"

#include <limits>
#include <map>

namespace podium {
namespace {

constexpr int kHistoryAtOnce = 1000;
constexpr int kPointsAtOnce = 10'000;

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
                   "SELECT id, (SELECT count(*) FROM points WHERE series = s.id) AS size FROM series s"
                   " WHERE job = ?1 AND points > ?2"),
      read_points_(database,
                   "SELECT step, attempt, time_ms, value FROM points WHERE series = ?1 AND step >= ?2"
                   " ORDER BY step LIMIT ?3"),
      delete_points_(database, "DELETE FROM points WHERE series = ?1 AND step BETWEEN ?2 AND ?3"),
      put_point_(database, "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5)") {}

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
  if (!thin_piece()) series_.pop_front();
  return true;
}

// The next points of the series at hand, of which as large a part stays as of all; false at its end.
bool Pruner::thin_piece() {
  LongSeries& series = series_.front();
  Series points;
  std::map<std::int64_t, int> attempts;
  for (read_points_.start(series.id, series.next_step, kPointsAtOnce); read_points_.next();) {
    points.push_back({read_points_.integer(0), from_millis(read_points_.integer(2)), read_points_.real(3)});
    attempts[points.back().step] = read_points_.small(1);
  }
  if (points.empty()) return false;
  const auto stay = static_cast<int>(std::int64_t{kPointsKept} * std::ssize(points) / series.count);
  Transaction transaction(database_);
  delete_points_.run(series.id, points.front().step, points.back().step);
  for (const SeriesPoint& point : thin(points, stay))
    put_point_.run(series.id, point.step, attempts.at(point.step), to_millis(point.time), point.value);
  transaction.commit();
  series.next_step = points.back().step + 1;
  return true;
}

}  // namespace podium
