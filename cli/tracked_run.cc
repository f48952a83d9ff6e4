#include "cli/tracked_run.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdlib>

#include "cli/curves/number_text.h"
#include "cli/fields.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// Of one request.
constexpr std::size_t kMostMetrics = 1000, kMostParameters = 100;

json as_list(const TextPairs& pairs) {
  json list = json::array();
  for (const auto& [key, value] : pairs) list.push_back({{"key", key}, {"value", value}});
  return list;
}

std::string user_name() {
  const char* user = std::getenv("USER");
  return user && *user ? user : "podium";
}

// MLflow's own names for those that JSON has none for.
std::string value_json(double value) {
  return std::isfinite(value) ? value_text(value) : "\"" + value_text(value) + "\"";
}

}  // namespace

std::string experiment_of(KeptConnection& connection, const std::string& name) {
  const auto found = connection.find_mlflow("/experiments/get-by-name", {{"experiment_name", name}});
  if (found) return text_field(found->at("experiment"), "experiment_id");
  return text_field(connection.post_mlflow("/experiments/create", {{"name", name}}), "experiment_id");
}

std::optional<FoundRun> find_run(KeptConnection& connection, const std::string& experiment,
                                 const std::string& name, const std::string& tag, const std::string& value) {
  const json found =
      connection.post_mlflow("/runs/search", {{"experiment_ids", {experiment}},
                                              {"filter", fmt::format("tags.`{}` = '{}'", tag, value)},
                                              {"max_results", 1000}});
  std::optional<FoundRun> best;
  for (const json& run : found.value("runs", json::array())) {
    const json& info = run.at("info");
    const bool finished = text_field(info, "status") == "FINISHED";
    if (text_field(info, "run_name") == name && (!best || (finished && !best->finished)))
      best = FoundRun{text_field(info, "run_id"), finished};
  }
  return best;
}

RunLog::RunLog(KeptConnection& connection, const std::string& experiment, NewRun run,
               const std::optional<FoundRun>& found)
    : connection_(&connection), run_(std::move(run)), continued_(found.has_value()) {
  if (found) {
    id_ = found->id;
  } else {
    const json made = connection.post_mlflow("/runs/create", {{"experiment_id", experiment},
                                                              {"user_id", user_name()},
                                                              {"run_name", run_.name},
                                                              {"start_time", run_.start_ms},
                                                              {"tags", as_list(run_.tags)}});
    id_ = text_field(made.at("run").at("info"), "run_id");
  }
}

void RunLog::begin() {
  if (continued_) set_status("RUNNING");
  for (std::size_t at = 0; at < run_.parameters.size(); at += kMostParameters) {
    const auto begin = run_.parameters.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kMostParameters, run_.parameters.size() - at);
    const json list = as_list({begin, begin + static_cast<std::ptrdiff_t>(count)});
    connection_->post_mlflow("/runs/log-batch", {{"run_id", id_}, {"params", list}});
  }
}

void RunLog::add(const std::string& metric, const CurvePoint& point) {
  metrics_ += fmt::format(R"({}{{"key":{},"value":{},"timestamp":{},"step":{}}})", waiting_ == 0 ? "" : ",",
                          json(metric).dump(), value_json(point.value), point.time_ms, point.step);
  if (++waiting_ == kMostMetrics) flush();
}

void RunLog::flush() {
  if (waiting_ == 0) return;
  connection_->post_mlflow_text("/runs/log-batch",
                                fmt::format(R"({{"run_id":"{}","metrics":[{}]}})", id_, metrics_));
  metrics_.clear();
  waiting_ = 0;
}

void RunLog::set_status(const char* status) {
  json body{{"run_id", id_}, {"status", status}};
  if (status != std::string_view("RUNNING")) body["end_time"] = run_.end_ms;
  connection_->post_mlflow("/runs/update", body);
}

void RunLog::finish() {
  flush();
  set_status("FINISHED");
}

void RunLog::fail() { set_status("FAILED"); }

}  // namespace podium::cli
