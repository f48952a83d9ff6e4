// podium queue: the jobs that wait, in the order in which the scheduler tries them.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct Options {
  std::string kind;
  int limit = 100;
};

// "reserved, by 2h05m"; "backfill" for a job behind one whose start is reserved.
std::string turn_text(const json& job, bool behind_reserved, std::int64_t now) {
  const json reserved = field(job, "reserved_ms");
  if (reserved.is_number())
    return "reserved, by " + human_seconds(static_cast<double>(reserved.get<std::int64_t>() - now) / 1000);
  return behind_reserved ? "backfill" : "in order";
}

std::string queue_table(const json& queue, const Terminal& terminal) {
  Table table({{"", true},
               {"JOB", true},
               {"NAME", false, true},
               {"DEVICES", true},
               {"WALLTIME", true},
               {"PRIORITY", true},
               {"WAITED", true},
               {"TURN"},
               {"REASON", false, true}});
  const std::int64_t now = now_millis();
  bool behind_reserved = false;
  for (const json& job : queue.at("jobs")) {
    table.add({{std::to_string(integer_field(job, "position"))},
               {std::to_string(integer_field(job, "job"))},
               {text_field(job, "name")},
               {size_text(job)},
               {human_seconds(job.at("walltime_seconds").get<double>())},
               {std::to_string(integer_field(job, "priority"))},
               {human_seconds(job.at("waited_seconds").get<double>())},
               {turn_text(job, behind_reserved, now)},
               {text_field(job, "reason"), Colour::dim}});
    behind_reserved = behind_reserved || field(job, "reserved_ms").is_number();
  }
  return table.render(terminal);
}

std::string page_of(const json& reply, const Terminal& terminal) {
  if (reply.at("queues").empty()) return "No job waits.\n";
  std::string text = "policy " + printable(text_field(reply, "policy")) + "\n";
  for (const json& queue : reply.at("queues")) {
    const std::int64_t total = integer_field(queue, "total");
    text += fmt::format("\n{}: {} job{} waiting\n", printable(text_field(queue, "kind")), human_count(total),
                        total == 1 ? "" : "s") +
            queue_table(queue, terminal);
    if (total > std::ssize(queue.at("jobs"))) text += "--limit shows more\n";
  }
  return text;
}

void run(const Options& options, const Session& session) {
  const json reply =
      Client(session).get("/queue", {{"kind", options.kind}, {"limit", std::to_string(options.limit)}});
  print(session.json ? reply.dump() + "\n" : page_of(reply, detect_terminal()));
}

}  // namespace

void add_queue(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("queue", "Jobs that wait, in the order the scheduler tries them");
  command->add_option("-k,--kind", options->kind, "Only jobs that wait for this kind of device")
      ->type_name("KIND");
  command->add_option("--limit", options->limit, "At most this many of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->footer(R"(
TURN: reserved jobs start by the time shown at the latest; jobs behind them start before only where they delay none of
them (backfill). podium why JOB tells more of one job.

Examples:
  podium queue
  podium queue --kind gpu --limit 20
  podium queue --json | jq '.queues[].jobs[] | {position, job, priority, reserved_ms}')");
  command->callback([options, &session] { run(*options, session); });
}

}  // namespace podium::cli
