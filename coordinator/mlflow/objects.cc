#include "coordinator/mlflow/objects.h"

#include <charconv>
#include <cmath>

#include "coordinator/mlflow/run_id.h"
#include "coordinator/store/run_words.h"

namespace podium::mlflow {
namespace {

void add_text(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void add_number(std::string& out, std::int64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// As Python writes it: with a point, so that it is read as a float again.
void add_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return;
  }
  char digits[32];
  const std::string_view text(
      digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

// {"key":…,"value":…}, …
template <class Rows, class Add>
void add_list(std::string& out, const Rows& rows, const Add& add) {
  out += '[';
  bool first = true;
  for (const auto& row : rows) {
    if (!first) out += ',';
    first = false;
    add(row);
  }
  out += ']';
}

void add_pairs(std::string& out, const std::vector<KeyValue>& pairs) {
  add_list(out, pairs, [&out](const KeyValue& pair) {
    out += "{\"key\":";
    add_text(out, pair.key);
    out += ",\"value\":";
    add_text(out, pair.value);
    out += '}';
  });
}

void add_field(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  add_text(out, text);
}

void add_field(std::string& out, std::string_view name, std::int64_t number) {
  out += ",\"";
  out += name;
  out += "\":";
  add_number(out, number);
}

std::string_view stage(bool deleted) { return deleted ? "deleted" : "active"; }

void add_info(std::string& out, const RunInfo& run, std::string_view cluster) {
  const std::string id = run_id_of(run.job, cluster);
  out += "{\"run_id\":\"" + id + "\",\"run_uuid\":\"" + id + '"';
  add_field(out, "run_name", run.name);
  add_field(out, "experiment_id", std::to_string(run.group.value));
  add_field(out, "user_id", run.user);
  add_field(out, "status", run_status(run.state));
  add_field(out, "start_time", run.started_ms);
  if (run.ended_ms) add_field(out, "end_time", *run.ended_ms);
  add_field(out, "artifact_uri", artifact_uri(run, cluster));
  add_field(out, "lifecycle_stage", stage(run.deleted));
  out += '}';
}

void add_metric(std::string& out, std::string_view quoted_key, double value, std::int64_t time_ms,
                std::int64_t step) {
  out += "{\"key\":";
  out += quoted_key;
  out += ",\"value\":";
  add_number(out, value);
  add_field(out, "timestamp", time_ms);
  add_field(out, "step", step);
  out += '}';
}

std::string json_of(std::string_view text) {
  std::string out;
  add_text(out, text);
  return out;
}

void add_inputs(std::string& out, const std::vector<RunInput>& inputs, std::string_view kind) {
  bool first = true;
  out += '[';
  for (const RunInput& input : inputs) {
    if (input.kind != kind) continue;
    if (!first) out += ',';
    first = false;
    out += input.body;
  }
  out += ']';
}

void add_run(std::string& out, const Run& run, std::string_view cluster) {
  out += "{\"info\":";
  add_info(out, run.info, cluster);
  out += ",\"data\":{\"metrics\":";
  add_list(out, run.data.metrics, [&out](const RunMetric& metric) {
    add_metric(out, json_of(metric.key), metric.value, metric.time_ms, metric.step);
  });
  out += ",\"params\":";
  add_pairs(out, run.data.params);
  out += ",\"tags\":";
  add_pairs(out, run.data.tags);
  out += "},\"inputs\":{\"dataset_inputs\":";
  add_inputs(out, run.data.inputs, "dataset");
  out += ",\"model_inputs\":";
  add_inputs(out, run.data.inputs, "model");
  out += "}}";
}

void add_experiment(std::string& out, const RunGroup& group) {
  out += "{\"experiment_id\":\"" + std::to_string(group.id.value) + '"';
  add_field(out, "name", group.name);
  add_field(out, "artifact_location", artifact_location(group.id, group.artifacts));
  add_field(out, "lifecycle_stage", stage(group.deleted));
  add_field(out, "creation_time", group.created_ms);
  add_field(out, "last_update_time", group.updated_ms);
  out += ",\"tags\":";
  add_pairs(out, group.tags);
  out += '}';
}

void add_next_page(std::string& out, const std::string& next_page) {
  if (!next_page.empty()) add_field(out, "next_page_token", next_page);
}

}  // namespace

std::string artifact_uri(const RunInfo& run, std::string_view cluster) {
  return podium::artifact_uri(run.group, run.artifacts, run_id_of(run.job, cluster));
}

std::string run_json(const Run& run, std::string_view cluster) {
  std::string out = "{\"run\":";
  add_run(out, run, cluster);
  return out + '}';
}

std::string run_info_json(const RunInfo& run, std::string_view cluster) {
  std::string out = "{\"run_info\":";
  add_info(out, run, cluster);
  return out + '}';
}

std::string runs_json(const FoundPage<Run>& page, const std::string& next_page, std::string_view cluster) {
  std::string out = "{\"runs\":";
  add_list(out, page.rows, [&](const Run& run) { add_run(out, run, cluster); });
  add_next_page(out, next_page);
  return out + '}';
}

std::string history_json(std::string_view key, const FoundPage<HistoryPoint>& page,
                         const std::string& next_page) {
  const std::string name = json_of(key);
  std::string out = "{\"metrics\":";
  out.reserve(page.rows.size() * (name.size() + 80) + 100);
  add_list(out, page.rows,
           [&](const HistoryPoint& point) { add_metric(out, name, point.value, point.time_ms, point.step); });
  add_next_page(out, next_page);
  return out + '}';
}

std::string experiment_json(const RunGroup& group) {
  std::string out = "{\"experiment\":";
  add_experiment(out, group);
  return out + '}';
}

std::string experiments_json(const FoundPage<RunGroup>& page, const std::string& next_page) {
  std::string out = "{\"experiments\":";
  add_list(out, page.rows, [&out](const RunGroup& group) { add_experiment(out, group); });
  add_next_page(out, next_page);
  return out + '}';
}

}  // namespace podium::mlflow
