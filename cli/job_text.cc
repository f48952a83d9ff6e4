#include "cli/job_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "common/model/job.h"

namespace podium::cli {
namespace {

using nlohmann::json;

bool has_object(const json& job, const char* key) { return job.contains(key) && job[key].is_object(); }

}  // namespace

bool has_ended(const json& job) { return is_terminal(job_state_from(job.at("state").get<std::string>())); }

std::string size_text(const json& job) {
  const json sizes = job.value("sizes", json::array());
  const std::string devices = std::to_string(integer_field(job, "devices"));
  return sizes.empty() ? devices
                       : fmt::format("{} ({}–{})", devices, sizes.front().dump(), sizes.back().dump());
}

std::string devices_text(const json& job) {
  const int per_node = integer_field(job, "per_node");
  return fmt::format("{} × {}{}", size_text(job), text_field(job, "kind", "?"),
                     per_node > 0 ? fmt::format(", {} a node", per_node) : "");
}

std::string layout_text(const json& job) {
  const json::json_pointer parallel("/spec/parallel");
  if (!job.contains(parallel)) return "";
  const int tensor = integer_field(job.at(parallel), "tensor");
  const int pipeline = integer_field(job.at(parallel), "pipeline");
  if (tensor < 1 || pipeline < 1 || tensor * pipeline == 1) return "";
  return fmt::format("tensor {} × pipeline {} × data {}", tensor, pipeline,
                     integer_field(job, "devices") / (tensor * pipeline));
}

std::string progress_text(const json& job) {
  if (!has_object(job, "progress")) return "–";
  const json& progress = job["progress"];
  return human_count(integer_field(progress, "step")) + "/" + human_count(integer_field(progress, "steps"));
}

std::string target_text(const json& job) {
  if (!has_object(job, "target")) return "";
  const json& target = job["target"];
  const char* bound = target.contains("at_least") ? "at_least" : "at_most";
  return fmt::format("{} {} of {} {}", text_field(target, "metric", "?"), human_value(field(target, "best")),
                     bound == std::string_view("at_least") ? "at least" : "at most",
                     human_value(field(target, bound)));
}

std::string remark(const json& job) {
  const std::string reason = text_field(job, "reason");
  if (!reason.empty()) return reason;
  if (has_object(job, "target") && !field(job["target"], "reached_ms").is_null())
    return "target reached" + (field(job, "time_to_train_seconds").is_number()
                                   ? " in " + human_seconds(job["time_to_train_seconds"].get<double>())
                                   : std::string());
  return target_text(job);
}

std::string run_time_text(const json& job, std::int64_t now) {
  const json started = field(job, "started_ms");
  if (!started.is_number()) return "–";
  const json ended = field(job, "ended_ms");
  const std::int64_t end = ended.is_number() ? ended.get<std::int64_t>() : now;
  return human_seconds(static_cast<double>(end - started.get<std::int64_t>()) / 1000);
}

std::string source_text(const json& source) {
  if (!source.is_object() || text_field(source, "commit").empty()) return "";
  return fmt::format("commit {} of {}, {}{}", text_field(source, "commit").substr(0, 12),
                     text_field(source, "repository", "?"), text_field(source, "path", "?"),
                     flag_field(source, "dirty") ? " (with uncommitted changes)" : "");
}

}  // namespace podium::cli
