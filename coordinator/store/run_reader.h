// Reads jobs as MLflow's runs, on a reader's connection. Its statements are prepared once, because clients
// ask for a run before they log each metric.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/run_change.h"
#include "coordinator/store/run_query.h"
#include "coordinator/store/sqlite.h"

namespace podium {

inline constexpr std::chrono::seconds kLongestSearch{10};
using SearchEnd = std::chrono::steady_clock::time_point;

struct RunInfo {
  JobId job;
  RunGroupId group;
  std::string name, user;
  JobState state = JobState::running;
  std::int64_t started_ms = 0;  // of a job that has not started: when it was submitted
  std::optional<std::int64_t> ended_ms;
  bool deleted = false;
  bool tracked = false;
  std::string artifacts;  // of its group
};

struct RunMetric {
  std::string key;
  double value = 0;
  std::int64_t time_ms = 0, step = 0;
};

struct RunData {
  std::vector<RunMetric> metrics;  // of each the latest: that with the highest step, then time, then value
  std::vector<KeyValue> params, tags;
  std::vector<RunInput> inputs;
};

struct RunTexts {
  std::vector<KeyValue> params, tags;
};

struct Run {
  RunInfo info;
  RunData data;
};

// A point of a metric's history, in whose order they are read.
struct HistoryPoint {
  std::int64_t step = 0, time_ms = 0;
  double value = 0;
};

struct RunGroup {
  RunGroupId id;
  std::string name, artifacts;
  std::int64_t created_ms = 0, updated_ms = 0;
  bool deleted = false;
  std::vector<KeyValue> tags;
};

template <class Row>
struct FoundPage {
  std::vector<Row> rows;
  bool more = false;
};

class RunReader {
 public:
  explicit RunReader(Database& database);

  std::optional<RunInfo> info(JobId job);
  std::optional<Run> run(JobId job);
  RunTexts submitted(JobId job);  // that its spec gives a scheduled job

  // By step, time and value; at most `most`, after `after`.
  FoundPage<HistoryPoint> history(JobId job, const std::string& key, std::size_t most,
                                  const std::optional<HistoryPoint>& after);

  // Fewer than query.limit where the runs are so large that a page would be. Throws SqliteError, of which
  // is_late() holds, where it takes longer than until `end`.
  FoundPage<Run> search(const RunQuery& query, SearchEnd end = SearchEnd::max());

  std::optional<RunGroup> group(RunGroupId group);
  std::optional<RunGroup> group(const std::string& name);
  FoundPage<RunGroup> search(const RunGroupQuery& query, SearchEnd end = SearchEnd::max());
  // The experiment that has the group's tracked runs; none: nobody has logged one.
  std::optional<ExperimentId> tracked_experiment(RunGroupId group);

 private:
  RunInfo info_row(Statement& row);
  RunGroup group_row(Statement& row);
  RunData data(JobId job);

  Database& database_;
  Statement info_, metrics_, params_, tags_, inputs_;
  Statement find_series_, repeated_;
  Statement group_, group_by_name_, group_tags_, tracked_;
};

}  // namespace podium
