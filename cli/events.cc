// podium events: a job's history.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/job_number.h"
#include "cli/moment.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostEvents = 100'000;

void run_events(std::int64_t id, const Session& session) {
  json reply = Client(session).get_pages(fmt::format("/jobs/{}/events", id), {}, "events", kMostEvents);
  // The coordinator learns of a checkpoint from the worker's files, perhaps after what came later.
  json& events = reply.at("events");
  std::stable_sort(events.begin(), events.end(), [](const json& a, const json& b) {
    return integer_field(a, "time_ms") < integer_field(b, "time_ms");
  });
  if (session.json) return print(reply.dump() + "\n");
  Table table({{"TIME"}, {"EVENT"}, {"WHAT", false, true}});
  for (const json& event : events)
    table.add({{local_time_of_day(from_millis(integer_field(event, "time_ms")))},
               {text_field(event, "type")},
               {with_local_times(text_field(event, "text"))}});
  print(table.render(detect_terminal()));
}

}  // namespace

void add_events(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command = app.add_subcommand("events", "Show a job's history, oldest first");
  add_job(*command, *id);
  command->footer("\nExamples:\n  podium events 12");
  command->callback([id, &session] { run_events(*id, session); });
}

}  // namespace podium::cli
