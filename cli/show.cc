// podium show: all there is to know of one job.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/attempts.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string field(const std::string& name, const std::string& value) {
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

std::string page_of(const json& job, const Terminal& terminal) {
  const std::string state = job.value("state", "?");
  const json ttt = job.value("time_to_train_seconds", json());
  std::string text = fmt::format("job {}  {}  {}\n", job.at("id").get<std::int64_t>(),
                                 paint(terminal, Colour::bold, printable(job.value("name", ""))),
                                 paint(terminal, state_colour(state), state));
  text += field("reason", job.value("reason", ""));
  text += field("experiment", std::to_string(job.value("experiment", std::int64_t{0})));
  text += field("source", source_text(job.value("source", json())));
  text += field("labels", labels_text(job.value("labels", json::object())));
  text += field("devices", devices_text(job));
  text += field("priority", std::to_string(job.value("priority", 0)));
  text += field("submitted", human_ago(job.value("submitted_ms", json()), now_millis()));
  text += field("run time", run_time_text(job, now_millis()));
  text += field("steps", progress_text(job));
  text += field("latest", latest_text(job.value("latest", json::object())));
  text += field("target", target_text(job));
  text += field("time to train", ttt.is_number() ? human_seconds(ttt.get<double>()) : "");
  text += field("restarts",
                fmt::format("{} of at most {}", job.value("restarts", 0), job.value("max_restarts", 0)));
  const std::string attempts = attempts_table(job.value("attempts", json::array()), terminal);
  return text + (attempts.empty() ? "" : "\n" + attempts);
}

void run(std::int64_t id, const Session& session) {
  const json job = Client(session).get(fmt::format("/jobs/{}", id));
  print(session.json ? job.dump() + "\n" : page_of(job, detect_terminal()));
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command = app.add_subcommand("show", "Show one job: state, progress, target, attempts");
  command->add_option("JOB", *id, "The job's number")->required();
  command->footer(R"(
Examples:
  podium show 12
  podium show 12 --json | jq .spec           the spec it runs, defaults filled in)");
  command->callback([id, &session] { run(*id, session); });
}

}  // namespace podium::cli
