// podium nodes drain | resume | reserve | unreserve | label | adopt: what operators do to nodes.
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/moment.h"
#include "cli/node_window.h"
#include "cli/print.h"
#include "common/net/url.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// Of a drain or a reservation.
struct WindowOptions {
  std::vector<std::string> nodes;
  std::string account, reason, from, until;
};

struct LabelOptions {
  std::string node;
  std::vector<std::string> labels;
};

void operate(const std::string& node, const std::string& operation, const json& body, const std::string& done,
             const Session& session) {
  const json reply =
      Client(session).post(fmt::format("/nodes/{}/{}", encode_component(node), operation), body);
  print(session.json ? reply.dump() + "\n" : fmt::format("{} {}\n", node, done));
}

json moment(const std::string& text, const char* option) {
  if (text.empty()) return nullptr;
  const auto time = parse_moment(text, from_millis(now_millis()));
  if (!time)
    throw Failure(Exit::usage, fmt::format("{}: \"{}\" must be a time such as 2026-03-01T20:00, "
                                           "2026-03-01T19:00Z or +2h",
                                           option, text));
  return to_millis(*time);
}

json window_body(const WindowOptions& options) {
  return {{"reason", options.reason},
          {"from_ms", moment(options.from, "--from")},
          {"until_ms", moment(options.until, "--until")}};
}

// "is drained until 2026-03-01 23:00", "will be drained from …"
std::string told_window(const std::string& what, const json& window) {
  return (begins_later(window, now_millis()) ? "will be " : "is ") + what + window_text(window, now_millis());
}

void drain(const WindowOptions& options, const Session& session) {
  const json body = window_body(options);
  const std::string then = begins_later(body, now_millis()) ? ": jobs that end before it still start"
                                                            : ": its jobs go on and nothing new starts";
  for (const std::string& node : options.nodes)
    operate(node, "drain", body, told_window("drained", body) + then, session);
}

void reserve(const WindowOptions& options, const Session& session) {
  json body = window_body(options);
  body["account"] = options.account;
  for (const std::string& node : options.nodes)
    operate(node, "reserve", body, told_window("reserved for account " + options.account, body), session);
}

// "key=value" sets a label, "key-" removes it.
json labels_body(const std::vector<std::string>& labels) {
  json body = json::object();
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    if (equals != std::string::npos)
      body[label.substr(0, equals)] = label.substr(equals + 1);
    else if (label.ends_with('-'))
      body[label.substr(0, label.size() - 1)] = nullptr;
    else
      throw Failure(Exit::usage, fmt::format("\"{}\" must be KEY=VALUE, or KEY- to remove it", label));
  }
  return {{"labels", body}};
}

std::shared_ptr<WindowOptions> add_window(CLI::App& command) {
  const auto options = std::make_shared<WindowOptions>();
  command.add_option("NODE", options->nodes, "The nodes")->required();
  command.add_option("--reason", options->reason, "The reason, shown to those who wait");
  command.add_option("--from", options->from, "When it begins; jobs that end before it still start")
      ->type_name("TIME");
  command.add_option("--until", options->until, "When it ends by itself")->type_name("TIME");
  return options;
}

void add_drain(CLI::App& nodes, Session& session) {
  CLI::App* command = nodes.add_subcommand(
      "drain", "Start nothing new on nodes; their jobs go on, and replicas of services leave");
  const auto options = add_window(*command);
  command->footer(R"(
TIME is local time, UTC with a Z at its end, or + and a duration from now.

Examples:
  podium nodes drain node-1 --reason "new fans"
  podium nodes drain node-1 node-2 --from +1d --until +1d3h
  podium nodes drain node-1 --until +2h)");
  command->callback([options, &session] { drain(*options, session); });
}

void add_reserve(CLI::App& nodes, Session& session) {
  CLI::App* command = nodes.add_subcommand("reserve", "Reserve nodes for the jobs of an account");
  const auto options = add_window(*command);
  command->add_option("--account", options->account, "The account; jobs of accounts below it may start, too")
      ->type_name("ACCOUNT")
      ->required();
  command->footer(R"(
What runs there goes on. TIME is as for podium nodes drain.

Examples:
  podium nodes reserve node-1 node-2 --account nlp --until +7d
  podium nodes reserve node-3 --account nlp/bert --from 2026-03-01T20:00 --reason "paper deadline")");
  command->callback([options, &session] { reserve(*options, session); });
}

// What undoes an operation.
void add_undo(CLI::App& nodes, Session& session, const std::string& name, const std::string& description,
              const std::string& done) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = nodes.add_subcommand(name, description);
  command->add_option("NODE", *names, "The nodes")->required();
  command->footer("\nExamples:\n  podium nodes " + name + " node-1 node-2");
  command->callback([names, name, done, &session] {
    for (const std::string& node : *names) operate(node, name, json::object(), done, session);
  });
}

void add_label(CLI::App& nodes, Session& session) {
  const auto options = std::make_shared<LabelOptions>();
  CLI::App* command = nodes.add_subcommand("label", "Give a node labels that jobs may ask for");
  command->add_option("NODE", options->node, "The node")->required();
  command->add_option("LABEL", options->labels, "KEY=VALUE sets a label, KEY- removes it")->required();
  command->footer(R"(
They override the labels that its agent gives. KEY- removes an operator's label; the agent's label applies again.

Examples:
  podium nodes label node-1 partition=nlp rack=r3
  podium nodes label node-1 rack-)");
  command->callback([options, &session] {
    operate(options->node, "labels", labels_body(options->labels), "is labelled", session);
  });
}

void add_adopt(CLI::App& nodes, Session& session) {
  const auto name = std::make_shared<std::string>();
  const auto stop = std::make_shared<bool>(false);
  CLI::App* command =
      nodes.add_subcommand("adopt", "Adopt a node that runs tasks unknown to the coordinator");
  command->add_option("NODE", *name, "The node")->required();
  command->add_flag("--stop", *stop, "Stop those tasks now, with their grace period");
  command->footer(R"(
After the database was lost or an older copy of it was restored, nodes may run tasks that it never ordered. Such tasks are
parked: they go on, and their node gets no work. After podium nodes adopt they run to their end, with --stop they are
stopped; then the node gets work again. An adoption holds until the coordinator's next start.

Examples:
  podium nodes adopt node-1
  podium nodes adopt node-1 --stop)");
  command->callback([name, stop, &session] {
    operate(*name, "adopt", {{"stop", *stop}},
            *stop ? "is adopted: its unknown tasks are stopped"
                  : "is adopted: its unknown tasks run to their end",
            session);
  });
}

}  // namespace

void add_node_operations(CLI::App& nodes, Session& session) {
  add_drain(nodes, session);
  add_undo(nodes, session, "resume", "Let drained nodes take work again, and forget what failed on them",
           "takes work again");
  add_reserve(nodes, session);
  add_undo(nodes, session, "unreserve", "Let every account use reserved nodes again",
           "is open to every account");
  add_label(nodes, session);
  add_adopt(nodes, session);
}

}  // namespace podium::cli
