// podium services: the models that jobs serve, how many replicas answer, and where; podium services show: the
// replicas of one; podium services stop.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/net/url.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string milliseconds_text(const json& value) {
  return value.is_number() ? human_value(value) + " ms" : "–";
}

// "rolling from 3: job 12 is not ready yet", "job 12 failed: …"; "" while all is as it should be.
std::string remark_text(const json& service) {
  const json roll = field(service, "roll");
  const json failure = field(service, "failure");
  const std::string state = text_field(roll, "state");
  if (state == "none" && !failure.is_null())
    return fmt::format("job {} failed: {}", integer_field(failure, "job"), text_field(failure, "reason"));
  if (state == "none")
    return integer_field(service, "active") < integer_field(service, "min")
               ? "has fewer replicas than its least: some were cancelled or held; release them, or submit it "
                 "again"
               : "";
  std::string from;
  for (const json& experiment : roll.at("from"))
    from += (from.empty() ? "" : ", ") + std::to_string(experiment.get<std::int64_t>());
  const std::string reason = text_field(roll, "reason");
  return state + " from " + from + (reason.empty() ? "" : ": " + reason);
}

std::string services_table(const json& services, const Terminal& terminal) {
  Table table({{"SERVICE", false, true, 12},
               {"EXPERIMENT", true},
               {"READY", true},
               {"NEEDED", true},
               {"OF", true},
               {"QUEUE", true},
               {"REQUESTS/S", true},
               {"ADDRESS", false, true, 20},
               {"STATE", false, true, 12}});
  for (const json& service : services)
    table.add({{printable(text_field(service, "name"))},
               {std::to_string(integer_field(service, "experiment"))},
               {std::to_string(integer_field(service, "ready"))},
               {std::to_string(std::max(integer_field(service, "active"), integer_field(service, "min")))},
               {fmt::format("{}–{}", integer_field(service, "min"), integer_field(service, "max"))},
               {milliseconds_text(field(service, "queue_ms"))},
               {human_value(number_field(service, "requests_per_second"))},
               {text_field(service, "url", "–")},
               {printable(remark_text(service))}});
  return table.empty() ? "No services. A spec with \"task: serve\" makes one; docs/serving.md shows it.\n"
                       : table.render(terminal);
}

std::string replicas_table(const json& replicas, const Terminal& terminal) {
  Table table({{"JOB", true},
               {"EXPERIMENT", true},
               {"STATE"},
               {"NODE", false, true},
               {"READY", true},
               {"QUEUE", true},
               {"REQUESTS/S", true},
               {"UNDER WAY", true},
               {"REASON", false, true, 20}});
  for (const json& replica : replicas)
    table.add(
        {{std::to_string(integer_field(replica, "job"))},
         {std::to_string(integer_field(replica, "experiment"))},
         {flag_field(replica, "paused") ? "paused" : text_field(replica, "state")},
         {printable(text_field(replica, "node", "–"))},
         {flag_field(replica, "ready") ? human_ago(field(replica, "ready_since_ms"), now_millis()) : "no"},
         {milliseconds_text(field(replica, "queue_ms"))},
         {human_value(field(replica, "requests_per_second"))},
         {human_value(field(replica, "in_flight"))},
         {printable(text_field(replica, "reason"))}});
  return table.render(terminal);
}

void list_services(const Session& session) {
  const json reply = Client(session).get("/services");
  print(session.json ? reply.dump() + "\n" : services_table(reply.at("services"), detect_terminal()));
}

void show_service(const std::string& name, const Session& session) {
  const json service = Client(session).get("/services/" + encode_component(name));
  if (session.json) return print(service.dump() + "\n");
  const Terminal terminal = detect_terminal();
  print(services_table(json::array({service}), terminal) + "\n" +
        replicas_table(service.at("replicas"), terminal));
}

void stop(const std::string& name, const Session& session) {
  Client(session).remove("/services/" + encode_component(name));
  print(session.json ? json{{"service", name}, {"stopping", true}}.dump() + "\n"
                     : "service " + name + " is being stopped: what it has accepted is answered first\n");
}

template <class Run>
void add_one(CLI::App& services, Session& session, const char* word, const char* help, const char* footer,
             const Run& run) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = services.add_subcommand(word, help);
  command->add_option("SERVICE", *name, "The name of its spec")->required();
  command->footer(footer);
  command->callback([name, run, &session] { run(*name, session); });
}

}  // namespace

void add_services(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("services", "Show and stop the models that jobs serve");
  command->footer(R"(
READY of the NEEDED replicas answer. The load decides how many are needed, between the two numbers under OF; the others are
jobs that are paused. A spec of the same name takes the place of the one before, replica by replica.

Examples:
  podium services
  podium services show answers
  podium services stop answers)");
  command->callback([command, &session] {
    if (is_list(*command)) list_services(session);
  });
  add_list_word(*command);
  add_one(*command, session, "show", "Show a service and each of its replicas",
          "\nExamples:\n  podium services show answers", show_service);
  add_one(*command, session, "stop", "Cancel all jobs of a service",
          "\nExamples:\n  podium services stop answers", stop);
}

}  // namespace podium::cli
