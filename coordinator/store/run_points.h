// Writes the points that programs log over MLflow's API, of which many may be at one step. The series has, at
// each step, that with the largest time, then value; the others lie in the table `repeated_points`. What is
// there already is left out. In the caller's transaction, on the writer's thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/series_table.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class RunPoints {
 public:
  RunPoints(Database& database, SeriesTable& series);

  // Nothing, or why the points are refused: then none is added.
  std::optional<Error> add(JobId job, const std::vector<RunPoint>& points);

  // Whether points of so many series wait that write() should come before more.
  bool is_full() const;
  // Call before the series are written: points at earlier steps than the last, which must be looked up, wait
  // for it, so that each series is read once in a transaction.
  void write();
  // Call after a commit, and after a rollback.
  void forget() { earlier_.clear(); }
  void forget_counts() { counts_.clear(); }  // after a rollback

 private:
  struct OfSeries {
    std::string_view key;
    std::vector<StoredPoint> points;
  };

  static std::vector<OfSeries> by_key(const std::vector<RunPoint>& points);
  void add(AttemptId job, SeriesTable::State& series, OfSeries of);
  static void put_in_order(std::vector<StoredPoint>& points);
  std::vector<StoredPoint> tops_of(SeriesTable::State& series, const std::vector<StoredPoint>& points);
  void add_one(AttemptId job, SeriesTable::State& series, const StoredPoint& point);
  void settle(AttemptId job, SeriesTable::State& series, const StoredPoint& before, const StoredPoint& now);
  void add_to_earlier(AttemptId job, SeriesTable::State& series, std::span<const StoredPoint> points);
  void repeat(SeriesTable::State& series, const StoredPoint& point);
  std::int64_t& count(JobId job);

  Database& database_;
  SeriesTable& series_;
  Statement put_repeated_, count_points_;
  std::map<std::pair<JobId, std::string>, std::vector<StoredPoint>> earlier_;
  std::unordered_map<JobId, std::int64_t> counts_;  // of points that were taken, also of such as were there
};

}  // namespace podium
