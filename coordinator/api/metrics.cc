#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "common/spec/suggest.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxKeys = 64;
constexpr std::size_t kMostNamed = 20;        // of the metrics that there are
constexpr std::size_t kMostPointsInAnswer = 500'000;  // of several jobs in one answer

json summary_json(const MetricSummary& metric) {
  return {{"key", metric.key},
          {"count", metric.count},
          {"first_step", metric.first_step},
          {"last_step", metric.last_step},
          {"last_ms", to_millis(metric.last_time)},
          {"last", number_to_json(metric.last)},
          {"min", number_to_json(metric.min)},
          {"max", number_to_json(metric.max)},
          {"lost_points", metric.lost}};
}

json series_json(const MetricSummary& metric, const SeriesView& series) {
  json points = json::array();
  for (const SeriesPoint& point : series.points)
    points.push_back({point.step, to_millis(point.time), number_to_json(point.value)});
  return {{"key", metric.key}, {"points", std::move(points)}, {"lost_points", metric.lost + series.lost}};
}

std::vector<std::string> keys_asked(Query& query) {
  std::vector<std::string> keys = query.all("key");
  if (keys.empty()) query.refuse("key", "is missing: name at least one metric");
  if (keys.size() > kMaxKeys) query.refuse("key", "is given more than 64 times");
  return keys;
}

struct SeriesAsked {
  std::vector<std::string> keys;
  int points = 0;
  StepRange steps;
};

int points_asked(Query& query) { return static_cast<int>(query.integer_or("points", 1000, 2, 20'000)); }

StepRange steps_asked(Query& query) {
  const StepRange steps{query.integer("first_step", 0, INT64_MAX).value_or(INT64_MIN),
                        query.integer_or("last_step", INT64_MAX, 0, INT64_MAX)};
  if (steps.first > steps.last) query.refuse("last_step", "is before first_step");
  return steps;
}

SeriesAsked series_asked(Query& query) {
  std::vector<std::string> keys = keys_asked(query);
  const int points = points_asked(query);
  return {std::move(keys), points, steps_asked(query)};
}

// "job 12 has no metric "train/los"; did you mean "train/loss"? It has eval/loss and train/loss"
std::string no_series(JobId job, const std::string& key, const std::vector<MetricSummary>& metrics) {
  std::string text = "job " + to_string(job) + " has no metric \"" + key.substr(0, 200) + "\"";
  if (metrics.empty()) return text + ", and no other yet";
  std::vector<std::string> names;
  for (const MetricSummary& metric : metrics) names.push_back(metric.key);
  const std::optional<std::string> near = closest(key, names);
  const std::size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(names.size() - more);
  return text + (near ? "; did you mean \"" + *near + "\"? It has " : "; it has ") +
         fmt::format("{}", fmt::join(names, ", ")) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

const MetricSummary* find(const std::vector<MetricSummary>& metrics, const std::string& key) {
  const auto found = std::ranges::find(metrics, key, &MetricSummary::key);
  return found == metrics.end() ? nullptr : &*found;
}

struct SeriesFound {
  std::optional<ServerReply> reply;
  std::string missing;  // where there is none: which key; "": there is no such job
};

// Runs on the pool's thread: series are the largest answers there are.
SeriesFound read_series(Reader& reader, JobId job, const SeriesAsked& asked) {
  if (!reader.job(job)) return {};
  const std::vector<MetricSummary> known = reader.metrics(job);
  json list = json::array();
  for (const std::string& key : asked.keys) {
    const MetricSummary* metric = find(known, key);
    if (!metric) return {std::nullopt, no_series(job, key, known)};
    list.push_back(series_json(*metric, reader.series(job, key, asked.points, asked.steps)));
  }
  return {json_reply(200, {{"series", std::move(list)}}), ""};
}

// Null where none of the jobs exists.
std::optional<ServerReply> read_series_of(Reader& reader, const std::vector<JobId>& jobs,
                                          const SeriesAsked& asked) {
  json list = json::array(), lacking = json::array(), missing = json::array();
  for (const JobId job : jobs) {
    if (!reader.job(job)) {
      missing.push_back(job.value);
      continue;
    }
    const std::vector<MetricSummary> known = reader.metrics(job);
    for (const std::string& key : asked.keys) {
      const MetricSummary* metric = find(known, key);
      if (!metric) {
        lacking.push_back({{"job", job.value}, {"key", key}});
        continue;
      }
      json series = series_json(*metric, reader.series(job, key, asked.points, asked.steps));
      series["job"] = job.value;
      list.push_back(std::move(series));
    }
  }
  if (missing.size() == jobs.size()) return std::nullopt;
  return json_reply(
      200, {{"series", std::move(list)}, {"lacking", std::move(lacking)}, {"missing", std::move(missing)}});
}

std::optional<ServerReply> read_metrics(Reader& reader, JobId job) {
  if (!reader.job(job)) return std::nullopt;
  json list = json::array();
  for (const MetricSummary& metric : reader.metrics(job)) list.push_back(summary_json(metric));
  return json_reply(200, {{"metrics", std::move(list)}});
}

}  // namespace

awaitable<ServerReply> get_metrics(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  std::optional<ServerReply> reply =
      co_await api.pool.read([id](Reader& reader) { return read_metrics(reader, *id); });
  if (!reply) co_return no_such(call, "job", call.path[0]);
  co_return std::move(*reply);
}

awaitable<ServerReply> get_series(Api& api, Call call) {
  const SeriesAsked asked = series_asked(call.query);
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto query = [id, asked](Reader& reader) { return read_series(reader, *id, asked); };
  SeriesFound found = co_await api.pool.read(query);
  if (found.reply) co_return std::move(*found.reply);
  if (found.missing.empty()) co_return no_such(call, "job", call.path[0]);
  co_return problem(404, found.missing, call.request.id);
}

awaitable<ServerReply> get_series_of_jobs(Api& api, Call call) {
  const std::vector<JobId> jobs = jobs_asked(call.query);
  const SeriesAsked asked = series_asked(call.query);
  if (jobs.size() * asked.keys.size() * static_cast<std::size_t>(asked.points) > kMostPointsInAnswer)
    call.query.refuse("points",
                      "is too many: jobs × keys × points may be 500,000; ask for fewer of one of them");
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto query = [jobs, asked](Reader& reader) { return read_series_of(reader, jobs, asked); };
  std::optional<ServerReply> reply = co_await api.pool.read(query);
  if (!reply) co_return no_such(call, "job", to_string(jobs.front()));
  co_return std::move(*reply);
}

}  // namespace podium
