#include "cli/job_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/moment.h"
#include "cli/terminal.h"
#include "common/model/job.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// For a shell, where it needs that.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

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
  const std::int64_t steps = integer_field(progress, "steps");  // 0: a program may not say
  return human_count(integer_field(progress, "step")) + (steps > 0 ? "/" + human_count(steps) : "");
}

std::string target_text(const json& job) {
  if (!has_object(job, "target")) return "";
  const json& target = job["target"];
  const char* bound = target.contains("at_least") ? "at_least" : "at_most";
  return fmt::format("{} {} of {} {}", text_field(target, "metric", "?"), human_value(field(target, "best")),
                     bound == std::string_view("at_least") ? "at least" : "at most",
                     human_value(field(target, bound)));
}

std::string reason_text(const json& job) { return with_local_times(text_field(job, "reason")); }

std::string remark(const json& job) {
  const std::string reason = reason_text(job);
  if (!reason.empty()) return reason;
  if (has_object(job, "target") && !field(job["target"], "reached_ms").is_null()) {
    const std::string time = time_to_train_text(job);
    return "target reached" + (time.empty() ? "" : " in " + time);
  }
  return target_text(job);
}

std::string state_text(const json& job) {
  return text_field(job, "state", "?") + (flag_field(job, "held") && !has_ended(job) ? ", held" : "");
}

std::string told(const json& job) {
  const std::string state = text_field(job, "state", "?"), reason = reason_text(job);
  const bool goes_on = state == "starting" || state == "running";
  std::string text = fmt::format("job {} is {}", integer_field(job, "id"), state);
  if (goes_on || state == "queued") text += fmt::format(", priority {}", integer_field(job, "priority"));
  if (flag_field(job, "held")) text += goes_on ? ", held: it goes on, but does not start again" : ", held";
  return text + (reason.empty() ? "" : ": " + printable(reason)) + "\n";
}

std::string run_time_text(const json& job, std::int64_t now) {
  if (!field(job, "started_ms").is_number()) return "–";
  const json since = field(job, "running_since_ms");
  const double running =
      since.is_number() ? static_cast<double>(now - since.get<std::int64_t>()) / 1000 : 0.0;
  return human_seconds(number_field(job, "ran_seconds") + running);
}

std::string time_to_train_text(const json& job) {
  const json seconds = field(job, "time_to_train_seconds");
  const bool trains = !flag_field(job, "command") || has_object(job, "target");
  return trains && seconds.is_number() ? human_seconds(seconds.get<double>()) : "";
}

std::string restarts_text(const json& job) {
  const json counts = field(job, "restart_counts");
  const std::int64_t used = integer_field(job, "restarts_used");
  std::string text = fmt::format("{} of at most {} after failures", used, integer_field(job, "max_restarts"));
  std::string others;
  const auto add = [&](const char* key, const char* one, const char* more) {
    const std::int64_t count = integer_field(counts, key);
    if (count > 0)
      others += fmt::format("{} {} {}", others.empty() ? ";" : ",", count, count == 1 ? one : more);
  };
  if (integer_field(counts, "failures") > used) add("failures", "failure in all", "failures in all");
  add("preemptions", "preemption", "preemptions");
  add("resizes", "resize", "resizes");
  add("promotions", "promotion", "promotions");
  add("requeues", "requeue", "requeues");
  add("moves", "move", "moves");
  add("node_losses", "node loss", "node losses");
  return text + others;
}

std::string command_text(const json& job) {
  const json::json_pointer command("/spec/command");
  if (!job.contains(command) || !job.at(command).is_array()) return "";
  std::string text;
  for (const json& word : job.at(command))
    text += (text.empty() ? "" : " ") + quoted(word.get<std::string>());
  return text;
}

std::string code_text(const json& job) {
  const json::json_pointer at("/spec/code");
  if (!job.contains(at) || !job.at(at).is_object()) return "";
  const json& code = job.at(at);
  std::string text = "folder " + text_field(code, "folder");
  if (!text_field(code, "git").empty())
    text += fmt::format(" as commit {} has it ({})", text_field(code, "commit"), text_field(code, "git"));
  return text + ", snapshot " + text_field(code, "snapshot").substr(0, 12);
}

std::string attempt_time_text(const json& attempt, std::int64_t now) {
  const json started = field(attempt, "started_ms");
  if (!started.is_number()) return "–";
  const json ended = field(attempt, "ended_ms");
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
