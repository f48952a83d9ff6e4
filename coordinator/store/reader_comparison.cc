// Reader: what jobs are compared by.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kRuns = 16;  // of points that follow each other, for the median of a long series
constexpr int kRunLength = 32;
constexpr std::size_t kMostThroughputs = 4;  // metrics of a job

struct SeriesRow {
  std::int64_t id = 0;
  MetricEnds ends;
  std::int64_t points = 0, first_step = 0, top_step = 0;
};

std::vector<SeriesRow> series_of(Database& database, JobId job) {
  Statement rows(database,
                 "SELECT id, key, last_value, min_value, max_value, last_step, points, first_step, top_step"
                 " FROM series WHERE job = ?1 AND points > 0 ORDER BY key");
  std::vector<SeriesRow> all;
  for (rows.start(job.value); rows.next();)
    all.push_back({rows.integer(0),
                   {rows.text(1), rows.real(2), rows.real(3), rows.real(4), rows.integer(5), {}, {}},
                   rows.integer(6),
                   rows.integer(7),
                   rows.integer(8)});
  return all;
}

std::optional<std::int64_t> least_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

// Chunks record where their extremes are; open points are read.
void find_steps(Database& database, SeriesRow& series) {
  MetricEnds& ends = series.ends;
  Statement row(
      database,
      "SELECT min(low_step) FILTER (WHERE low_value = ?2), min(high_step) FILTER (WHERE high_value = ?3)"
      " FROM chunks WHERE series = ?1");
  if (row.start(series.id, ends.least, ends.greatest).next()) {
    ends.least_step = row.optional_integer(0);
    ends.greatest_step = row.optional_integer(1);
  }
  for (const StoredPoint& point : ChunkReader(database, series.id).open({})) {
    if (point.value == ends.least) ends.least_step = least_of(ends.least_step, point.step);
    if (point.value == ends.greatest) ends.greatest_step = least_of(ends.greatest_step, point.step);
  }
}

std::vector<double> values_of(Database& database, const SeriesRow& series) {
  std::vector<double> values;
  ChunkReader reader(database, series.id);
  const bool is_short = series.points <= kRuns * kRunLength;
  for (int i = 0; i < (is_short ? 1 : kRuns); ++i) {
    const double fraction = static_cast<double>(i) / kRuns;
    const double steps = static_cast<double>(series.top_step - series.first_step);
    const std::int64_t from = series.first_step + static_cast<std::int64_t>(fraction * steps);
    for (const StoredPoint& point : reader.some(from, is_short ? kRuns * kRunLength : kRunLength))
      if (!std::isnan(point.value)) values.push_back(point.value);
  }
  return values;
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Searches for the step of the best value only for the job's target.
void add_metrics(Database& database, const std::vector<std::string>& patterns, ComparedJob& compared) {
  for (SeriesRow& series : series_of(database, compared.id)) {
    const std::string& key = series.ends.key;
    compared.keys.push_back(key);
    const bool wanted =
        std::ranges::any_of(patterns, [&key](const std::string& pattern) { return matches(pattern, key); });
    if (key.ends_with("_per_second") && compared.throughput.size() < kMostThroughputs) {
      if (const auto middle = median(values_of(database, series)))
        compared.throughput.push_back({key, *middle});
    }
    if (!wanted) continue;
    if (compared.target && compared.target->metric == key) find_steps(database, series);
    compared.metrics.push_back(series.ends);
  }
}

// Devices are held from the creation of an attempt to its end.
double device_seconds(Database& database, JobId job, Time now) {
  Statement rows(
      database,
      "SELECT created_ms, ended_ms,"
      " (SELECT sum(CASE more_devices WHEN '[]' THEN 1 ELSE 1 + json_array_length(more_devices) END)"
      "  FROM tasks WHERE tasks.job = attempts.job AND tasks.attempt = attempts.number)"
      " FROM attempts WHERE job = ?1");
  double sum = 0;
  for (rows.start(job.value); rows.next();) {
    const std::int64_t end = rows.optional_integer(1).value_or(to_millis(now));
    sum += static_cast<double>(std::max<std::int64_t>(0, end - rows.integer(0))) / 1000 *
           static_cast<double>(rows.optional_integer(2).value_or(0));
  }
  return sum;
}

void add_hardware(Database& database, const JobView& job, ComparedJob& compared) {
  Statement nodes(database, "SELECT count(DISTINCT node) FROM tasks WHERE job = ?1 AND attempt = ?2");
  if (nodes.start(job.id.value, job.attempt).next()) compared.nodes = nodes.small(0);
  Statement rows(
      database,
      "SELECT DISTINCT agent_version, node_hardware.devices FROM"
      " (SELECT DISTINCT node, created_ms FROM tasks JOIN attempts ON attempts.job = tasks.job"
      "  AND attempts.number = tasks.attempt WHERE tasks.job = ?1 AND tasks.attempt = ?2) AS held"
      " JOIN node_hardware ON node_hardware.node = held.node AND since_ms ="
      " (SELECT max(since_ms) FROM node_hardware WHERE node = held.node AND since_ms <= created_ms)");
  std::set<std::string> versions, models;
  for (rows.start(job.id.value, job.attempt); rows.next();) {
    versions.insert(rows.text(0));
    for (const json& device : json::parse(rows.text(1))) {
      if (device.at(0) != job.request.kind) continue;
      models.insert(device.at(1).get<std::string>());
      compared.artificial |= device.at(2).get<bool>();
    }
  }
  compared.agent_versions.assign(versions.begin(), versions.end());
  compared.device_models.assign(models.begin(), models.end());
}

}  // namespace

ComparedJob Reader::compared(const JobView& job, const ComparisonQuery& query) {
  ComparedJob compared;
  compared.id = job.id;
  const ReadTransaction moment(*database_);
  compared.spec = json::parse(job_spec(job.id).value_or("{}"));
  Statement source(*database_, "SELECT source FROM experiments WHERE id = ?1 AND source != ''");
  if (source.start(job.experiment.value).next()) compared.source = json::parse(source.text(0));
  compared.text = text_of(job.id);
  compared.origin = origin_of(job.id);
  if (job.target) compared.target = TargetSpec{job.target->metric, job.target->at_least, job.target->at_most};
  compared.time_to_train_seconds = job.time_to_train_seconds;
  compared.restarts = job.restarts;
  if (job.attempt > 0) {
    const Duration running = job.running_since ? query.now - *job.running_since : Duration{};
    compared.run_seconds = std::chrono::duration<double>(job.ran + std::max(running, Duration{})).count();
    compared.device_seconds = device_seconds(*database_, job.id, query.now);
    compared.devices = job.devices;
    add_hardware(*database_, job, compared);
  }
  add_metrics(*database_, query.metrics, compared);
  return compared;
}

}  // namespace podium
