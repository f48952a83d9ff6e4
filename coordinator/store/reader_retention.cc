// Reader: rules of retention, and data that is due for deletion. A job's row says when it ended; only data
// that still exists is counted.
#include <algorithm>
#include <map>

#include "coordinator/store/checkpoint_paths.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

constexpr std::int64_t kAllCheckpoints = INT64_MAX;

std::string folder_of_jobs(Database& database) {
  Statement row(database, "SELECT folder FROM cluster");
  return row.start().next() ? row.text(0) : "";
}

struct Need {
  JobId of, by;
  bool by_path = false;
};

// The jobs that go on from checkpoints of others, or begin with the weights of one, by number or by path, by
// who needs them. `ended`: also those that have reached their target, which may be reproduced.
std::vector<Need> needs(Database& database, bool ended) {
  const std::string folder = folder_of_jobs(database);
  Statement rows(database,
                 "SELECT id, json_extract(spec, '$.resume.job'), json_extract(spec, '$.model.init.job'),"
                 " CASE json_type(spec, '$.model.init') WHEN 'text' THEN json_extract(spec, '$.model.init')"
                 " ELSE json_extract(spec, '$.model.init.path') END, origins.path"
                 " FROM jobs LEFT JOIN origins ON origins.job = id"
                 " WHERE (instr(spec, '\"resume\"') OR instr(spec, '\"init\"'))"
                 " AND (ended_ms IS NULL OR (?1 AND target_reached_ms IS NOT NULL)) ORDER BY id");
  std::vector<Need> found;
  for (rows.start(std::int64_t{ended}); rows.next();) {
    const JobId by{rows.integer(0)};
    for (const int number : {1, 2})
      if (const auto job = rows.optional_integer(number)) found.push_back({JobId{*job}, by});
    for (const int path : {3, 4})
      if (const auto job = rows.is_null(path) ? std::nullopt : job_of_checkpoints(rows.text(path), folder))
        found.push_back({*job, by, true});
  }
  return found;
}

// Each job that is needed, and by which one.
std::map<JobId, JobId> jobs_needed(Database& database) {
  std::map<JobId, JobId> needed;
  for (const Need& need : needs(database, true)) needed.emplace(need.of, need.by);
  return needed;
}

CheckpointView checkpoint_row(Statement& row) {
  return {row.small(0), row.integer(1), from_millis(row.integer(2)),
          row.text(3),  row.integer(4), row.real(5)};
}

class DueCounter {
 public:
  DueCounter(Database& database, std::filesystem::path home)
      : home_(std::move(home)),
        needed_(jobs_needed(database)),
        points_(database,
                "SELECT coalesce(sum(size - ?2), 0) FROM (SELECT"
                " (SELECT coalesce(sum(points), 0) FROM chunks WHERE series = s.id)"
                " + (SELECT coalesce(sum(count), 0) FROM open_points WHERE series = s.id) AS size"
                " FROM series s WHERE job = ?1 AND points > ?3) WHERE size > ?3"),
        history_(database, "SELECT count(*) FROM history WHERE job = ?1"),
        // What a later attempt saved again has the same path. A training keeps the newest few and the best.
        checkpoints_(database,
                     "SELECT max(attempt), step, time_ms, path, bytes, seconds FROM checkpoints"
                     " WHERE job = ?1 GROUP BY path ORDER BY step DESC LIMIT ?2"),
        best_(database,
              "SELECT attempt, step, time_ms, path, bytes, seconds, best_metric, best_value FROM checkpoints"
              " WHERE job = ?1 AND best_metric IS NOT NULL ORDER BY attempt DESC, step DESC LIMIT 1") {}

  void count(DueJob& job, Kept kept, std::int64_t newest_checkpoints) {
    switch (kept) {
      case Kept::points:
        for (points_.start(job.job.value, kPointsKept, kThinnedFrom); points_.next();)
          job.points = points_.integer(0);
        return;
      case Kept::history:
        for (history_.start(job.job.value); history_.next();) job.history = history_.integer(0);
        return;
      case Kept::logs:
        job.log_bytes = size_of_logs(home_, job.job);
        return;
      case Kept::checkpoints:
        add_checkpoints(job, newest_checkpoints);
    }
  }

 private:
  void add_checkpoints(DueJob& job, std::int64_t newest) {
    for (checkpoints_.start(job.job.value, newest); checkpoints_.next();)
      job.checkpoints.push_back(checkpoint_row(checkpoints_));
    for (best_.start(job.job.value); best_.next();) {
      auto best = std::ranges::find(job.checkpoints, best_.text(3), &CheckpointView::path);
      if (best == job.checkpoints.end()) best = job.checkpoints.insert(best, checkpoint_row(best_));
      best->best = {best_.text(6), best_.real(7)};
    }
    const auto needed = needed_.find(job.job);
    if (needed == needed_.end() || job.checkpoints.empty()) return;
    job.needed_by = needed->second;
    job.checkpoints.clear();
  }

  std::filesystem::path home_;
  std::map<JobId, JobId> needed_;
  Statement points_, history_, checkpoints_, best_;
};

bool is_anything(const DueJob& job) {
  return job.points > 0 || job.history > 0 || job.log_bytes > 0 || !job.checkpoints.empty() || job.needed_by;
}

void add(DueSums& sums, const DueJob& job) {
  ++sums.jobs;
  sums.points += job.points;
  sums.history += job.history;
  sums.log_bytes += job.log_bytes;
  for (const CheckpointView& checkpoint : job.checkpoints) {
    ++sums.checkpoints;
    sums.checkpoint_bytes += checkpoint.bytes;
  }
}

// How long each kind is kept of the experiments of a name.
class KeepTimes {
 public:
  KeepTimes(const DueQuery& query, RetentionRules rules) : usual_(query.usual), rules_(std::move(rules)) {
    if (query.as_if) rules_[query.experiment] = *query.as_if;
    shortest_ = *std::ranges::min_element(usual_.values);
    for (const auto& [name, rule] : rules_)
      for (const auto& keep : rule.values) shortest_ = std::min(shortest_, keep.value_or(shortest_));
  }

  Duration of(const std::string& experiment, Kept kept) const {
    const auto rule = rules_.find(experiment);
    return rule == rules_.end() ? usual_[kept] : rule->second[kept].value_or(usual_[kept]);
  }
  Duration shortest() const { return shortest_; }

 private:
  Retention usual_;
  RetentionRules rules_;
  Duration shortest_{};
};

}  // namespace

RetentionRules Reader::retention_rules() { return read_retention_rules(*database_); }

bool Reader::has_experiment(const std::string& name) {
  Statement row(*database_, "SELECT EXISTS (SELECT 1 FROM experiments WHERE name = ?1)");
  row.start(name).next();
  return row.integer(0) != 0;
}

std::map<JobId, JobId> Reader::read_by_path() {
  std::map<JobId, JobId> readers;
  for (const Need& need : needs(*database_, false))
    if (need.by_path) readers.emplace(need.of, need.by);
  return readers;
}

RetentionDue Reader::due(const DueQuery& query) {
  const ReadTransaction moment(*database_);
  const KeepTimes keep(query, read_retention_rules(*database_));
  DueCounter counter(*database_, home_);
  Statement jobs(*database_,
                 "SELECT j.id, j.name, e.name, j.done_ms, json_extract(j.spec, '$.checkpoint.keep')"
                 " FROM jobs j JOIN experiments e ON e.id = j.experiment"
                 " WHERE j.done_ms <= ?1 AND (?2 = '' OR e.name = ?2) ORDER BY j.done_ms, j.id");
  RetentionDue due;
  for (jobs.start(to_millis(query.by - keep.shortest()), query.experiment); jobs.next();) {
    DueJob job{.job = {jobs.integer(0)},
               .name = jobs.text(1),
               .experiment = jobs.text(2),
               .ended = from_millis(jobs.integer(3))};
    for (const Kept kept : kAllKept)
      if (const Duration time = keep.of(job.experiment, kept);
          time < kForever && job.ended <= query.by - time)
        counter.count(job, kept, jobs.optional_integer(4).value_or(kAllCheckpoints));
    if (!is_anything(job)) continue;
    add(due.all, job);
    if (due.jobs.size() < query.limit) due.jobs.push_back(std::move(job));
  }
  return due;
}

}  // namespace podium
