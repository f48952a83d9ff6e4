// podium ledger: where the time of a job went, or that of many jobs.
#include <spdlog/fmt/fmt.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/costs_text.h"
#include "cli/job_number.h"
#include "cli/ledger_text.h"
#include "cli/moment.h"
#include "cli/print.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct LedgerOptions {
  std::int64_t job = 0;
  bool attempts = false;
  std::string by, account, experiment, from, to;
  int limit = 0;
};

Time day_of(const std::string& text) {
  const auto day = parse_moment(text + "T00:00Z", {});
  if (!day || *day < Time{})
    throw Failure(Exit::usage, "\"" + text + "\" is no day since 1970; write it as 2026-03-01");
  return *day;
}

void show_job(const LedgerOptions& options, const Session& session) {
  const json ledger = Client(session).get(fmt::format("/jobs/{}/ledger", options.job));
  const Terminal terminal = detect_terminal();
  if (session.json) return print(ledger.dump() + "\n");
  print(ledger_text(ledger, terminal) + costs_text(ledger) +
        (options.attempts ? attempts_ledger_text(ledger, terminal) : ""));
}

void show_many(const LedgerOptions& options, const Session& session) {
  Query query{{"by", options.by}, {"account", options.account}, {"experiment", options.experiment}};
  if (!options.from.empty()) query.emplace_back("from_ms", std::to_string(to_millis(day_of(options.from))));
  if (!options.to.empty())
    query.emplace_back("to_ms", std::to_string(to_millis(day_of(options.to) + std::chrono::days(1))));
  if (options.limit > 0) query.emplace_back("limit", std::to_string(options.limit));
  const json table = Client(session).get("/ledger", query);
  print(session.json ? table.dump() + "\n" : ledger_table_text(table, detect_terminal()));
}

}  // namespace

void add_ledger(CLI::App& app, Session& session) {
  const auto options = std::make_shared<LedgerOptions>();
  CLI::App* command = app.add_subcommand("ledger", "Show where the time of a job, or of many jobs, went");
  CLI::Option* job = add_job(*command, options->job)->required(false);
  command->add_flag("--attempts", options->attempts, "Also show each attempt")->needs(job);
  const auto add = [&](const char* name, std::string& value, const char* what) {
    return command->add_option(name, value, what)->excludes(job);
  };
  add("--account", options->account, "Only jobs of this account and of those below it");
  must_be_experiment(add("--experiment", options->experiment, "Only jobs of this experiment"));
  add("--by", options->by, "What each row stands for")
      ->check(CLI::IsMember({"job", "account", "experiment", "node", "day"}));
  add("--from", options->from, "From this day on (UTC)")->type_name("YYYY-MM-DD");
  add("--to", options->to, "To the end of this day (UTC)")->type_name("YYYY-MM-DD");
  command->add_option("--limit", options->limit, "At most this many rows (default: 100)")
      ->check(CLI::Range(1, 1000))
      ->excludes(job);
  command->footer(R"(
Every device-second from a job's submission to its end is in one bucket. "steps taken again" are steps that a later
attempt repeated because its checkpoint was older. "checkpointing" is only the time for which training waited. A wait is
counted under the first reason that podium why names. A waiting job counts with the fewest devices that it asks for, an
attempt with all its devices until its end.

Goodput = steps that count / (device time held, without that of programs of your own that do not report their steps).

A job's energy is shown where its nodes can measure it, with the fraction of the device time that was measured; its cost
where the coordinator has prices of device-hours (--price).

Examples:
  podium ledger 12
  podium ledger 12 --attempts
  podium ledger --account nlp --by day --from 2026-03-01
  podium ledger --experiment 7
  podium ledger 12 --json | jq '.totals[] | select(.kind == "lost")')");
  command->callback(
      [options, &session] { options->job > 0 ? show_job(*options, session) : show_many(*options, session); });
}

}  // namespace podium::cli
