// podium show: all there is to know of one job.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/attempts.h"
#include "cli/board_text.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/costs_text.h"
#include "cli/failure.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/projection_text.h"
#include "cli/terminal.h"
#include "common/model/origin.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string row(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("  {:<14}{}\n", name, printable(value));
}

std::string latest_text(const json& latest) {
  std::string text;
  for (const auto& [key, value] : latest.items())
    text += (text.empty() ? "" : ", ") + key + " " + human_value(value);
  return text;
}

std::string labels_text(const json& labels) {
  std::string text;
  for (const auto& [key, value] : labels.items())
    text += (text.empty() ? "" : ", ") + key + ":" + value.get<std::string>();
  return text;
}

std::string after_text(const json& job) {
  const json::json_pointer after("/spec/after");
  if (!job.contains(after)) return "";
  std::string text;
  for (const json& on : job.at(after))
    text += fmt::format("{}job {}{}", text.empty() ? "" : ", ", integer_field(on, "job"),
                        text_field(on, "when") == "any" ? ", however it ends" : "");
  return text;
}

std::string resumed_text(const json& job) {
  const json::json_pointer resumed("/spec/resume/job");
  return job.contains(resumed) ? fmt::format("job {}", job.at(resumed).get<std::int64_t>()) : "";
}

// "step 200 of /shared/…/jobs/12/checkpoints/step-00000200, XXH3 0123456789abcdef", of a Hugging Face folder
// without a step; or until the worker has told it what the spec names.
std::string origin_text(const json& job) {
  const json origin = field(job, "origin");
  if (origin.is_object())
    return fmt::format("{}{}, XXH3 {}",
                       integer_field(origin, "step") > 0
                           ? "step " + human_count(integer_field(origin, "step")) + " of "
                           : "",
                       text_field(origin, "path"), text_field(origin, "xxh3"));
  const json::json_pointer init("/spec/model/init");
  if (!job.contains(init)) return "";
  return job.at(init).is_object() ? describe(job_checkpoint_from_json(job.at(init)))
                                  : job.at(init).get<std::string>();
}

// "…/checkpoints/step-00000200, eval/f1 88.1"
std::string best_checkpoint_text(const json& checkpoint) {
  const json best = field(checkpoint, "best");
  if (!best.is_object()) return "";
  return fmt::format("{}, {} {}", text_field(checkpoint, "path"), text_field(best, "metric"),
                     human_value(best.at("value")));
}

// "2026-03-01 20:00, 3m12s ago"
std::string time_text(const json& job, const char* key) {
  const json millis = field(job, key);
  return millis.is_number() ? local_time(from_millis(millis)) + ", " + human_ago(millis, now_millis()) : "";
}

// Of the attempt that runs, or of the last.
std::string nodes_text(const json& job) {
  const json attempts = job.value("attempts", json::array());
  if (attempts.empty()) return "";
  std::string text, last;
  for (const json& task : attempts.back().value("tasks", json::array())) {
    const std::string node = text_field(task, "node");
    if (node != last) text += (text.empty() ? "" : ", ") + node;
    last = node;
  }
  return text;
}

// "812,344 tokens in 31,021 sentences, XXH3 0123456789abcdef"
std::string text_text(const json& text) {
  if (!text.is_object()) return "";
  const std::int64_t sentences = integer_field(text, "sentences");
  return fmt::format("{} tokens{}, XXH3 {}", human_count(integer_field(text, "tokens")),
                     sentences > 0 ? fmt::format(" in {} sentences", human_count(sentences)) : "",
                     printable(text_field(text, "xxh3")));
}

// What is asked for besides the job.
struct Besides {
  std::string expected;    // when a job that runs reaches its target
  std::string reproduces;  // the job that it repeats, with the times of both
  std::string energy, cost;
};

std::string job_page(const json& job, const Besides& besides, const Terminal& terminal) {
  const std::string state = text_field(job, "state", "?");
  std::string text = fmt::format("job {}  {}  {}\n", job.at("id").get<std::int64_t>(),
                                 paint(terminal, Colour::bold, printable(text_field(job, "name"))),
                                 paint(terminal, state_colour(state), state_text(job)));
  text += row("reason", reason_text(job));
  text += row("experiment", std::to_string(integer_field(job, "experiment")));
  text += row("source", source_text(field(job, "source")));
  text += row("text", text_text(field(job, "text")));
  text += row("command", command_text(job));
  text += row("code", code_text(job));
  text += row("labels", labels_text(job.value("labels", json::object())));
  text += row("devices", devices_text(job));
  text += row("nodes", nodes_text(job));
  text += row("layout", layout_text(job));
  text += row("after", after_text(job));
  text += row("resumes", resumed_text(job));
  text += row("begins with", origin_text(job));
  text += row("account", text_field(job, "account"));
  text += row("held", flag_field(job, "held") ? "until podium release" : "");
  text += row("priority", std::to_string(integer_field(job, "priority")));
  text += row("submitted", time_text(job, "submitted_ms"));
  text += row("started", time_text(job, "started_ms"));
  text += row("ended", time_text(job, "ended_ms"));
  text += row("run time", run_time_text(job, now_millis()));
  if (command_text(job).empty()) text += row("steps", progress_text(job));
  text += row("checkpoint", text_field(field(job, "checkpoint"), "path"));
  text += row("best", best_checkpoint_text(field(job, "best_checkpoint")));
  text += row("latest", latest_text(job.value("latest", json::object())));
  text += row("target", target_text(job));
  text += row("expected", besides.expected);
  text += row("time to train", time_to_train_text(job));
  text += row("energy", besides.energy);
  text += row("cost", besides.cost);
  text += row("reproduces", besides.reproduces);
  text += row("restarts", restarts_text(job));
  const std::string attempts = attempts_table(job.value("attempts", json::array()), terminal);
  return text + (attempts.empty() ? "" : "\n" + attempts);
}

// When a job that runs reaches its target; "" of others.
std::string expected_text(Client& client, const json& job) {
  if (text_field(job, "state") != "running" || !field(job, "target").is_object()) return "";
  if (!field(job["target"], "reached_ms").is_null()) return "";
  return projection_text(client.get(fmt::format("/jobs/{}/projection", integer_field(job, "id"))),
                         now_millis());
}

std::string reproduces_text(Client& client, const json& job) {
  const std::string original = text_field(job.value("labels", json::object()), "reproduces");
  if (original.empty() || original.find_first_not_of("0123456789") != std::string::npos) return "";
  try {
    return reproduction_text(client.get("/jobs/" + original), job);
  } catch (const Failure& failure) {
    if (failure.status() != Exit::refused) throw;
    return "job " + original + ", which this coordinator does not have";
  }
}

// Of a job that has held devices, what it drew and cost.
json ledger_of(Client& client, const json& job) {
  if (field(job, "attempts").empty()) return json::object();
  return client.get(fmt::format("/jobs/{}/ledger", integer_field(job, "id")));
}

void run_show(std::int64_t id, const Session& session) {
  Client client(session);
  json job = client.get(fmt::format("/jobs/{}", id));
  const json ledger = ledger_of(client, job);
  if (session.json) {
    for (const char* part : {"energy", "cost"}) job[part] = field(ledger, part);
    return print(job.dump() + "\n");
  }
  print(job_page(
      job, {expected_text(client, job), reproduces_text(client, job), energy_text(ledger), cost_text(ledger)},
      detect_terminal()));
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command = app.add_subcommand("show", "Show one job: state, progress, target, attempts");
  add_job(*command, *id);
  command->footer(R"(
Examples:
  podium show 12
  podium show 12 --json | jq .spec           the spec it runs, defaults filled in
  podium show 12 --json | jq .energy.joules  what it drew, null where that is not known)");
  command->callback([id, &session] { run_show(*id, session); });
}

}  // namespace podium::cli
