// podium retention: how long what is kept of ended jobs; podium retention set and unset: of the experiments
// of a name; podium retention due: what goes, and the checkpoints that an operator may delete.
#include <spdlog/fmt/fmt.h>

#include <array>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/base/units.h"
#include "common/net/url.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kKept{"points", "history", "logs", "checkpoints"};

struct RetentionChange {
  std::string experiment;
  std::array<std::string, kKept.size()> keep;  // "": as it is
  bool dry_run = false;
};

struct DueOptions {
  std::string experiment, within;
  int limit = 100;
};

std::string seconds_field(const char* kept) { return std::string(kept) + "_seconds"; }

json seconds_of(const std::string& text) {
  return std::chrono::duration_cast<std::chrono::seconds>(*parse_duration(text)).count();
}

std::string check_keep(const std::string& text) {
  if (text == "forever" || text == "usual") return "";
  const auto duration = parse_duration(text);
  if (duration && *duration >= std::chrono::seconds(1)) return "";
  return "\"" + text + "\" must be a duration from 1s to 36500d, written like 30d or 12h, forever, or usual";
}

std::string check_within(const std::string& text) {
  return parse_duration(text) ? "" : "\"" + text + "\" is not a duration; write it like 7d or 12h";
}

// "30d", "forever"; in parentheses what is as of all others.
std::string keep_text(const json& rule, const json& usual, const char* kept) {
  const json own = field(rule, seconds_field(kept).c_str());
  const json keep = own.is_null() ? field(usual, seconds_field(kept).c_str()) : own;
  const std::string text = keep.is_string() ? keep.get<std::string>()
                                            : format_duration(std::chrono::seconds(keep.get<std::int64_t>()));
  return own.is_null() ? "(" + text + ")" : text;
}

std::string rules_text(const json& usual, const json& rules) {
  Table table({{"EXPERIMENT", false, true, 12}, {"POINTS"}, {"HISTORY"}, {"LOGS"}, {"CHECKPOINTS"}});
  const auto add = [&](const std::string& name, const json& rule) {
    std::vector<Cell> row{{name}};
    for (const char* kept : kKept) row.push_back({keep_text(rule, usual, kept)});
    table.add(std::move(row));
  };
  for (const json& rule : rules) add(text_field(rule, "experiment"), rule);
  add(rules.empty() ? "all" : "all others", usual);
  return table.render(detect_terminal());
}

std::string some(std::int64_t number, const std::string& text) { return number > 0 ? text : "–"; }

// The checkpoints by their paths, for whoever deletes them.
std::string checkpoints_text(const json& jobs) {
  std::string paths, kept;
  for (const json& job : jobs) {
    for (const json& checkpoint : job.at("checkpoints"))
      paths += fmt::format("  {}  {}\n", text_field(checkpoint, "path"),
                           human_bytes(integer_field(checkpoint, "bytes")));
    if (!field(job, "needed_by").is_null())
      kept += fmt::format("The checkpoints of job {} stay: job {} continues from them.\n",
                          integer_field(job, "job"), integer_field(job, "needed_by"));
  }
  if (paths.empty()) return kept;
  return "Checkpoints that no job needs; they are in the folder that the nodes share, and Podium does not "
         "delete them:\n" +
         paths + kept;
}

std::string count_of(const json& all, const char* key, const std::string& one, const std::string& many) {
  const std::int64_t number = integer_field(all, key);
  return human_count(number) + " " + (number == 1 ? one : many);
}

std::string sums_text(const json& all) {
  return fmt::format("In all {}: {}, {} of history, {} of logs; {} of {}.\n",
                     count_of(all, "jobs", "job", "jobs"), count_of(all, "points", "point", "points"),
                     count_of(all, "history", "line", "lines"), human_bytes(integer_field(all, "log_bytes")),
                     count_of(all, "checkpoints", "checkpoint", "checkpoints"),
                     human_bytes(integer_field(all, "checkpoint_bytes")));
}

std::string due_text(const json& due) {
  const json& all = due.at("all");
  if (integer_field(all, "jobs") == 0) return "Nothing is due.\n";
  Table table({{"JOB", true},
               {"NAME", false, true, 12},
               {"ENDED"},
               {"POINTS", true},
               {"HISTORY", true},
               {"LOGS", true},
               {"CHECKPOINTS", true}});
  for (const json& job : due.at("jobs")) {
    const std::int64_t points = integer_field(job, "points"), history = integer_field(job, "history"),
                       logs = integer_field(job, "log_bytes"),
                       checkpoints = std::ssize(job.at("checkpoints"));
    table.add({{std::to_string(integer_field(job, "job"))},
               {text_field(job, "name")},
               {local_time(from_millis(integer_field(job, "ended_ms")))},
               {some(points, human_count(points))},
               {some(history, human_count(history))},
               {some(logs, human_bytes(logs))},
               {some(checkpoints, std::to_string(checkpoints))}});
  }
  std::string text = table.render(detect_terminal());
  const std::int64_t more = integer_field(all, "jobs") - std::ssize(due.at("jobs"));
  if (more > 0) text += fmt::format("and {} more; --limit shows more of them\n", human_count(more));
  return text + sums_text(all) + checkpoints_text(due.at("jobs"));
}

void list_retention(const Session& session) {
  const json reply = Client(session).get("/retention");
  print(session.json ? reply.dump() + "\n" : rules_text(reply.at("usual"), reply.at("rules")));
}

void print_due(const Client& client, const Query& query, const Session& session) {
  const json due = client.get("/retention/due", query);
  print(session.json ? due.dump() + "\n" : due_text(due));
}

void set_retention(const RetentionChange& change, const Session& session) {
  json body = json::object();
  Query as_if{{"experiment", change.experiment}};
  for (std::size_t i = 0; i < kKept.size(); ++i) {
    const std::string& keep = change.keep[i];
    if (keep.empty()) continue;
    json& value = body[seconds_field(kKept[i])];
    if (keep == "forever")
      value = keep;
    else if (keep != "usual")
      value = seconds_of(keep);
    as_if.emplace_back(seconds_field(kKept[i]), value.is_number() ? value.dump() : keep);
  }
  if (body.empty())
    throw Failure(Exit::usage, "say what to keep for how long: --points, --history, --logs or --checkpoints");
  const Client client(session);
  if (change.dry_run) return print_due(client, as_if, session);
  const json rule = client.post("/retention/" + encode_component(change.experiment), body);
  if (session.json) return print(rule.dump() + "\n");
  print(rules_text(client.get("/retention").at("usual"), json::array({rule})));
}

void unset(const std::string& experiment, const Session& session) {
  Client(session).remove("/retention/" + encode_component(experiment));
  print(session.json ? json{{"experiment", experiment}, {"deleted", true}}.dump() + "\n"
                     : "what is kept of experiment " + experiment + " is as of all others\n");
}

void show_due(const DueOptions& options, const Session& session) {
  Query query{{"experiment", options.experiment}, {"limit", std::to_string(options.limit)}};
  if (!options.within.empty()) query.emplace_back("within_seconds", seconds_of(options.within).dump());
  print_due(Client(session), query, session);
}

void add_retention_set(CLI::App& retention, Session& session) {
  const auto change = std::make_shared<RetentionChange>();
  CLI::App* command = retention.add_subcommand(
      "set", "Set how long data of an experiment's ended jobs is kept; settings that are not named stay");
  command
      ->add_option("NAME", change->experiment, "The name of the experiments: it applies to all of this name")
      ->required();
  const CLI::Validator keep(check_keep, "");
  const std::array<const char*, kKept.size()> helps{
      "All points of its curves; then some 2,000 of each stay", "What happened, line by line",
      "What its tasks wrote", "After this its checkpoints are due: podium retention due names them"};
  for (std::size_t i = 0; i < kKept.size(); ++i)
    command->add_option(std::string("--") + kKept[i], change->keep[i], helps[i])
        ->type_name("DURATION")
        ->check(keep);
  command->add_flag("--dry-run", change->dry_run, "Change nothing; show what would be deleted");
  command->footer(R"(
Times count from a job's end. "usual" is the time of all other experiments; "forever" deletes nothing. Deleted data cannot
be restored: look with --dry-run first.

Examples:
  podium retention set my-bert --points 30d --logs 7d --dry-run
  podium retention set my-bert --points 30d --logs 7d --checkpoints 7d
  podium retention set my-bert --logs usual)");
  command->callback([change, &session] { set_retention(*change, session); });
}

void add_unset(CLI::App& retention, Session& session) {
  const auto experiment = std::make_shared<std::string>();
  CLI::App* command =
      retention.add_subcommand("unset", "Keep data of an experiment as long as that of all others");
  command->add_option("NAME", *experiment, "Of the experiments")->required();
  command->footer("\nExamples:\n  podium retention unset my-bert");
  command->callback([experiment, &session] { unset(*experiment, session); });
}

void add_due(CLI::App& retention, Session& session) {
  const auto options = std::make_shared<DueOptions>();
  CLI::App* command = retention.add_subcommand("due", "Show what is due for deletion, and delete nothing");
  command->add_option("NAME", options->experiment, "Only experiments of this name");
  command->add_option("--within", options->within, "Also what will be due within this time")
      ->type_name("DURATION")
      ->check(CLI::Validator(check_within, ""));
  command->add_option("--limit", options->limit, "At most this many jobs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->footer(R"(
The coordinator deletes points, history and logs soon after they are due. Checkpoints stay until somebody deletes them;
their paths are relative to the folder that the nodes share (podium-agent --shared). They are not due while a job that
has not ended, or one that reached its target and may be reproduced, continues from them (resume: {job: N})
or begins with their weights (model: {init: {job: N}}).

Examples:
  podium retention due --within 7d
  podium retention due my-bert --json | jq -r '.jobs[].checkpoints[].path')");
  command->callback([options, &session] { show_due(*options, session); });
}

}  // namespace

void add_retention(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("retention", "Show and change how long data of ended jobs is kept");
  command->footer(R"(
All points of the curves, the history, the logs and the checkpoints of a job are kept for a time after its end. The
coordinator's --keep-points, --keep-history, --keep-logs and --keep-checkpoints set it for all experiments; it is shown in
parentheses where an experiment has no setting of its own. Jobs, results, ledgers, records, and the ends and extremes of
curves stay for ever.

Examples:
  podium retention
  podium retention set my-bert --points 30d --logs 7d --dry-run
  podium retention due --within 7d)");
  command->callback([command, &session] {
    if (is_list(*command)) list_retention(session);
  });
  add_list_word(*command);
  add_retention_set(*command, session);
  add_unset(*command, session);
  add_due(*command, session);
}

}  // namespace podium::cli
