// podium why: why a job waits, until when, and what would start it sooner.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string in_time(const json& millis, std::int64_t now) {
  if (!millis.is_number()) return "unknown";
  const double seconds = static_cast<double>(millis.get<std::int64_t>() - now) / 1000;
  return seconds < 1 ? "now" : "in " + human_seconds(seconds);
}

std::string start_text(const json& start, std::int64_t now) {
  const auto row = [](const std::string& name, const std::string& value) {
    return fmt::format("  {:<10}{}\n", name, value);
  };
  std::string text = row("expected", in_time(field(start, "expected_ms"), now)) +
                     row("earliest", in_time(field(start, "earliest_ms"), now)) +
                     row("latest", in_time(field(start, "latest_ms"), now));
  const json reserved = field(start, "reserved_ms");
  if (reserved.is_number()) text += row("reserved", in_time(reserved, now));
  const json not_before = field(start, "not_before_ms");
  if (not_before.is_number()) text += row("at least", in_time(not_before, now));
  const std::string note = with_local_times(text_field(start, "note"));
  return text + (note.empty() ? "" : row("note", printable(note)));
}

// "resources.devices: 4, resources.per_node: 4"
std::string settings_text(const json& set) {
  std::string text;
  for (const auto& [path, value] : set.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_null())
      text += "no " + path;
    else
      text += path + ": " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string how_text(std::int64_t job, const json& sooner) {
  const json set = field(sooner, "set");
  if (text_field(sooner, "change") == "hold") return fmt::format("podium release {}", job);
  if (text_field(sooner, "change") == "priority")
    return fmt::format("podium priority {} {}", integer_field(set, "priority"), job);
  return "cancel it, submit it with " + settings_text(set);
}

std::string sooner_text(std::int64_t job, const json& sooner, const Terminal& terminal) {
  Table table({{"CHANGE", false, true}, {"HOW"}});
  for (const json& entry : sooner) table.add({{text_field(entry, "sentence")}, {how_text(job, entry)}});
  return table.render(terminal);
}

std::string why_page(const json& why, const Terminal& terminal) {
  const std::string state = text_field(why, "state", "?");
  std::string text = fmt::format("job {}  {}\n", integer_field(why, "job"),
                                 paint(terminal, state_colour(state), printable(state)));
  const json blockers = why.value("blockers", json::array());
  const bool queued = field(why, "start").is_object();
  if (!queued && blockers.empty()) return text + "It does not wait.\n";
  text += "\nwhy it waits\n";
  for (const json& blocker : blockers)
    text += "  " + printable(with_local_times(text_field(blocker, "sentence"))) + "\n";
  if (!queued) return text;
  text += "\nwhen it starts\n" + start_text(why.at("start"), integer_field(why, "now_ms"));
  if (!why.at("sooner").empty())
    text +=
        "\nwhat would start it sooner\n" + sooner_text(integer_field(why, "job"), why.at("sooner"), terminal);
  return text;
}

void run_why(std::int64_t id, const Session& session) {
  const json why = Client(session).get(fmt::format("/jobs/{}/why", id), {}, Patience::great);
  print(session.json ? why.dump() + "\n" : why_page(why, detect_terminal()));
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command =
      app.add_subcommand("why", "Why a job waits, until when, and what would start it sooner");
  add_job(*command, *id);
  command->footer(R"(
The forecast runs the scheduler on a copy of the cluster. expected: jobs take the usual part of their walltime, and a job
that has run longer goes on for a time that grows with the excess. latest: every job takes all of its walltime. earliest:
every job is as quick as the quickest tenth. at least: so many jobs wait that the forecast ended before the start, at the
time shown. Each change was tried in the same way; a change that needs another submission loses the job's waiting time.

Examples:
  podium why 12
  podium why 12 --json | jq '.blockers[] | {code, needs, has}'
  podium why 12 --json | jq .start.expected_ms)");
  command->callback([id, &session] { run_why(*id, session); });
}

}  // namespace podium::cli
