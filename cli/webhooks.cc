// podium webhooks: whom the coordinator tells what happens, and how far it is; podium webhooks test.
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/net/url.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kAllEvents = 7;

std::string events_text(const json& events) {
  if (events.size() >= kAllEvents) return "all";
  std::string text;
  for (const json& event : events) text += (text.empty() ? "" : ", ") + event.get<std::string>();
  return text;
}

// "failing for 3m: the receiver answered 500"; what was wrong before stays to be read.
std::string state_text(const json& webhook) {
  const std::string error = text_field(webhook, "error");
  if (error.empty()) return "";
  return (flag_field(webhook, "failing") ? "failing: " : "failed ") +
         (flag_field(webhook, "failing") ? "" : human_ago(field(webhook, "failed_ms"), now_millis()) + ": ") +
         error;
}

std::string webhooks_table(const json& webhooks, const Terminal& terminal) {
  Table table({{"WEBHOOK", false, true, 8},
               {"ADDRESS", false, true, 20},
               {"EVENTS", false, true, 12},
               {"WAITING", true},
               {"DELIVERED", true},
               {"LAST", true},
               {"DROPPED", true},
               {"STATE", false, true, 20}});
  for (const json& webhook : webhooks)
    table.add({{printable(text_field(webhook, "name"))},
               {printable(text_field(webhook, "address"))},
               {events_text(webhook.at("events"))},
               {std::to_string(integer_field(webhook, "waiting"))},
               {std::to_string(integer_field(webhook, "delivered"))},
               {human_ago(field(webhook, "last_delivered_ms"), now_millis())},
               {std::to_string(integer_field(webhook, "expired") + integer_field(webhook, "lost"))},
               {printable(state_text(webhook))}});
  return table.empty()
             ? "No webhooks. The coordinator's webhooks.yaml lists them; docs/interoperate.md shows one.\n"
             : table.render(terminal) + "DELIVERED and LAST are since the coordinator's start.\n";
}

void list_webhooks(const Session& session) {
  const json reply = Client(session).get("/webhooks");
  print(session.json ? reply.dump() + "\n" : webhooks_table(reply.at("webhooks"), detect_terminal()));
}

void test_webhook(const std::string& name, const Session& session) {
  const json reply = Client(session).post("/webhooks/" + encode_component(name) + "/test", json::object(), "",
                                          Patience::great);
  if (session.json) print(reply.dump() + "\n");
  if (!flag_field(reply, "delivered"))
    throw Failure(Exit::refused,
                  "webhook " + name + " has not taken the test: " + text_field(reply, "error"));
  if (!session.json)
    print("webhook " + name + " has taken the test: its receiver answered " +
          std::to_string(integer_field(reply, "status")) + "\n");
}

}  // namespace

void add_webhooks(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("webhooks", "Show and try the addresses that are told what happens");
  command->footer(R"(
Operators choose them, in webhooks.yaml in the coordinator's home. DELIVERED counts from the coordinator's start; DROPPED are
notices that are not sent any more: their queue was full, or they have failed for a day.

Examples:
  podium webhooks
  podium webhooks test ops)");
  command->callback([command, &session] {
    if (is_list(*command)) list_webhooks(session);
  });
  add_list_word(*command);
  const auto name = std::make_shared<std::string>();
  CLI::App* test = command->add_subcommand("test", "Send a notice of type test, now and once");
  test->add_option("WEBHOOK", *name, "Its name")->required();
  test->footer("\nExamples:\n  podium webhooks test ops");
  test->callback([name, &session] { test_webhook(*name, session); });
}

}  // namespace podium::cli
