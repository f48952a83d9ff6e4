#include "cli/job_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/humanise.h"
#include "common/model/job.h"

namespace podium::cli {
namespace {

using nlohmann::json;

bool has_object(const json& job, const char* key) { return job.contains(key) && job[key].is_object(); }

}  // namespace

bool has_ended(const json& job) { return is_terminal(job_state_from(job.at("state").get<std::string>())); }

std::string devices_text(const json& job) {
  const int per_node = job.value("per_node", 0);
  return fmt::format("{} × {}{}", job.value("devices", 0), job.value("kind", "?"),
                     per_node > 0 ? fmt::format(", {} a node", per_node) : "");
}

std::string progress_text(const json& job) {
  if (!has_object(job, "progress")) return "–";
  const json& progress = job["progress"];
  return human_count(progress.value("step", std::int64_t{0})) + "/" +
         human_count(progress.value("steps", std::int64_t{0}));
}

std::string target_text(const json& job) {
  if (!has_object(job, "target")) return "";
  const json& target = job["target"];
  const char* bound = target.contains("at_least") ? "at_least" : "at_most";
  return fmt::format("{} {} of {} {}", target.value("metric", "?"), human_value(target.value("best", json())),
                     bound == std::string_view("at_least") ? "at least" : "at most",
                     human_value(target.value(bound, json())));
}

std::string remark(const json& job) {
  const std::string reason = job.value("reason", "");
  if (!reason.empty()) return reason;
  if (has_object(job, "target") && !job["target"].value("reached_ms", json()).is_null())
    return "target reached" + (job.value("time_to_train_seconds", json()).is_number()
                                   ? " in " + human_seconds(job["time_to_train_seconds"].get<double>())
                                   : std::string());
  return target_text(job);
}

std::string run_time_text(const json& job, std::int64_t now) {
  const json started = job.value("started_ms", json());
  if (!started.is_number()) return "–";
  const json ended = job.value("ended_ms", json());
  const std::int64_t end = ended.is_number() ? ended.get<std::int64_t>() : now;
  return human_seconds(static_cast<double>(end - started.get<std::int64_t>()) / 1000);
}

std::string source_text(const json& source) {
  if (!source.is_object() || source.value("commit", "").empty()) return "";
  return fmt::format("commit {} of {}, {}{}", source.value("commit", "").substr(0, 12),
                     source.value("repository", "?"), source.value("path", "?"),
                     source.value("dirty", false) ? " (with uncommitted changes)" : "");
}

}  // namespace podium::cli
