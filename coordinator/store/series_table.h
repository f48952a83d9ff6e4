// The tables `series` and `points`. A series keeps its own count, ends and extremes, so that nothing ever
// counts points to show a job; they cover every value that was written, also those that a later attempt
// replaced.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/id.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

inline constexpr std::int64_t kMostMetrics = 2000;  // different names of one job
inline constexpr std::size_t kLongestMetricName = 200;

class SeriesTable {
 public:
  explicit SeriesTable(Database& database);

  // To be written with the next write(). False when the name is new and the job may have no more, or too
  // long.
  bool add(AttemptId attempt, std::string_view key, const SeriesPoint& point);
  // What was added, all of one job, in the caller's transaction.
  void write();

  // The transaction was rolled back: what is remembered may never have happened.
  void forget();

 private:
  struct State {
    std::int64_t id = 0;
    int attempt = 0;
    std::int64_t last_step = 0, last_ms = 0;
    double last = 0, min = 0, max = 0;
    std::int64_t points = 0, first_step = 0, top_step = 0;
    bool changed = false;
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  struct JobSeries {
    std::int64_t count = 0;  // in the database; not all of them are in `known`
    std::unordered_map<std::string, State, KeyHash, std::equal_to<>> known;
  };
  struct Row {
    State* series;  // in known, which never moves what it holds
    std::int64_t step, time_ms;
    double value;
  };

  JobSeries& job_series(JobId job);
  State* find(JobSeries& job, AttemptId attempt, std::string_view key);
  void put(const Row& row, int attempt);

  Database& database_;
  Statement count_series_, find_series_, insert_series_, update_series_, insert_point_, replace_point_;
  std::unordered_map<JobId, JobSeries> jobs_;
  AttemptId writing_;  // whose rows these are
  std::vector<Row> rows_;
};

}  // namespace podium
