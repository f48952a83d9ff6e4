// The table `series`, and the points of series (chunk_writer.h). A series row has the count, ends and
// extremes, so that showing a job never counts points. They cover every value that was written, including
// values that a later attempt replaced.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/id.h"
#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

// Of the metrics of one job, beyond which no new one is taken.
struct SeriesLimits {
  std::int64_t most = 0;    // different names
  std::size_t longest = 0;  // bytes of a name
};

inline constexpr std::int64_t kMostMetrics = 2000;
inline constexpr std::size_t kLongestMetricName = 200;
inline constexpr SeriesLimits kTaskLimits{kMostMetrics, kLongestMetricName};  // of what tasks tell
inline constexpr SeriesLimits kNoNewSeries{};

class SeriesTable {
 public:
  explicit SeriesTable(Database& database);

  // The state of one series.
  struct State {
    std::int64_t id = 0;
    int attempt = 0;
    std::int64_t last_step = 0, last_ms = 0;
    double last = 0, min = 0, max = 0;
    std::int64_t points = 0, first_step = 0, top_step = 0;
    OpenChunk open;
    std::vector<StoredPoint> fresh;  // to be written, in the order of arrival
  };

  // Null where it is new and the limits let the job have no more. Valid until another job is asked for.
  State* find(AttemptId attempt, std::string_view key, const SeriesLimits& limits = kTaskLimits);
  std::int64_t count(JobId job) { return job_series(job).count; }
  // Adds a point for the next write().
  void add(State& series, AttemptId attempt, const SeriesPoint& point);
  // For a value that is no point of the series.
  void widen(State& series, double value);
  // Writes what was added, in the caller's transaction: to all series, or to one.
  void write();
  void write(State& series);

  // Call after a rollback: drops the cache, which may hold what was never written.
  void forget();

 private:
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  struct JobSeries {
    std::int64_t count = 0;  // in the database; not all of them are in `known`
    std::unordered_map<std::string, State, KeyHash, std::equal_to<>> known;
  };
  JobSeries& job_series(JobId job);
  void write_points(State& series);

  Database& database_;
  Statement count_series_, find_series_, insert_series_, update_series_;
  ChunkWriter chunks_;
  std::unordered_map<JobId, JobSeries> jobs_;
  std::vector<State*> changed_;  // in `known`, whose values never move
};

}  // namespace podium
