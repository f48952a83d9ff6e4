// The table `series`, and the points of series (chunk_writer.h). A series keeps its own count, ends and
// extremes, so that nothing ever counts points to show a job; they cover every value that was written, also
// those that a later attempt replaced.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/id.h"
#include "coordinator/store/chunk_writer.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/series.h"

namespace podium {

inline constexpr std::int64_t kMostMetrics = 2000;  // different names of one job
inline constexpr std::size_t kLongestMetricName = 200;

class SeriesTable {
 public:
  explicit SeriesTable(Database& database);

  // Of one series.
  struct State {
    std::int64_t id = 0;
    int attempt = 0;
    std::int64_t last_step = 0, last_ms = 0;
    double last = 0, min = 0, max = 0;
    std::int64_t points = 0, first_step = 0, top_step = 0;
    OpenChunk open;
    std::vector<StoredPoint> fresh;  // to be written, as they came
  };

  // Null when the name is new and the job may have no more, or too long. Good until the next write().
  State* find(AttemptId attempt, std::string_view key);
  // To be written with the next write(); all of one job.
  void add(State& series, AttemptId attempt, const SeriesPoint& point);
  // What was added, in the caller's transaction.
  void write();

  // The transaction was rolled back: what is remembered may never have happened.
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
  void write(State& series);

  Database& database_;
  Statement count_series_, find_series_, insert_series_, update_series_;
  ChunkWriter chunks_;
  std::unordered_map<JobId, JobSeries> jobs_;
  std::vector<State*> changed_;  // in known, which never moves what it holds
};

}  // namespace podium
