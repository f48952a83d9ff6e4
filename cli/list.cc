// podium list: jobs, newest first.
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_filter.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct ListOptions {
  JobFilter filter;
  std::string sort = "-id";
  std::size_t limit = 50;
  bool watch = false;
};

json fetch_jobs(const Client& client, const ListOptions& options) {
  Query query = query_of(options.filter);
  query.emplace_back("sort", options.sort);
  return client.get_pages("/jobs", std::move(query), "jobs", options.limit);
}

std::string jobs_page(const json& reply, const Terminal& terminal) {
  Table table({{"JOB", true},
               {"NAME", false, true},
               {"STATE"},
               {"DEVICES"},
               {"STEP", true},
               {"RUN TIME", true},
               {"SUBMITTED", true},
               {"REMARK", false, true}});
  const std::int64_t now = now_millis();
  for (const json& job : reply.at("jobs")) {
    const std::string state = text_field(job, "state", "?");
    table.add({{std::to_string(job.at("id").get<std::int64_t>())},
               {text_field(job, "name")},
               {state_text(job), state_colour(state)},
               {fmt::format("{} {}", size_text(job), text_field(job, "kind"))},
               {progress_text(job)},
               {run_time_text(job, now)},
               {human_ago(field(job, "submitted_ms"), now)},
               {remark(job), Colour::dim}});
  }
  if (table.empty()) return "No jobs. Submit one: podium submit configs/quickstart.yaml\n";
  const auto shown = reply.at("jobs").size();
  const std::int64_t total = integer_field(reply, "total");
  const std::string more = total > static_cast<std::int64_t>(shown)
                               ? fmt::format("{} of {} jobs; --limit shows more\n", shown, human_count(total))
                               : "";
  return table.render(terminal) + more;
}

void watch(const Client& client, const ListOptions& options) {
  while (true) {
    const Terminal terminal = detect_terminal();  // the window may have changed its size
    const std::string text = jobs_page(fetch_jobs(client, options), terminal);
    print((terminal.interactive ? "\x1b[H\x1b[2J" : "") + text);
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

void run_list(const ListOptions& options, const Session& session) {
  const Client client(session);
  if (options.watch) return watch(client, options);
  const json reply = fetch_jobs(client, options);
  print(session.json ? reply.dump() + "\n" : jobs_page(reply, detect_terminal()));
}

}  // namespace

void add_list_word(CLI::App& command) {
  const std::string path = "podium " + command.get_name();
  command.require_subcommand(0, 1);
  command.add_subcommand("list", "As " + path)->footer("\nExamples:\n  " + path + " list");
}

bool is_list(const CLI::App& command) {
  return command.get_subcommands().empty() || command.got_subcommand("list");
}

void add_list(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List jobs, newest first")->alias("ls")->alias("jobs");
  add_filters(*command, options->filter);
  command
      ->add_option("--sort", options->sort,
                   "Sort by id, name, state, progress, loss, throughput, devices, account, priority, "
                   "submitted or time (to train); a - before it puts the largest first. Except by id, a job "
                   "that moves between two pages of 1,000 may appear twice or not at all")
      ->type_name("[-]KEY")
      ->capture_default_str();
  command->add_option("--limit", options->limit, "At most this many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("-w,--watch", options->watch, "Refresh every two seconds, until Ctrl-C");
  command->footer(R"(
Examples:
  podium list --state queued                what waits, and why
  podium list --label team=nlp --limit 500
  podium list --account nlp --state running
  podium list --state succeeded --sort time            the fastest first
  podium list --state running --sort=-throughput
  podium list --json | jq '.jobs[] | {id, state, time_to_train_seconds}')");
  command->callback([options, &session] { run_list(*options, session); });
}

}  // namespace podium::cli
