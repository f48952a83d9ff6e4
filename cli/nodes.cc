// podium nodes: lists the cluster's machines and what runs on their devices.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/moment.h"
#include "cli/node_window.h"
#include "cli/print.h"
#include "cli/table.h"
#include "common/base/time.h"
#include "common/base/units.h"
#include "common/net/url.h"
#include "common/spec/suggest.h"

namespace podium::cli {
namespace {

using nlohmann::json;

bool is_busy(const json& device) { return field(device, "job").is_number(); }

// "1 of 2 cpu busy, 1 unhealthy"
std::string devices_summary(const json& devices) {
  std::string kinds;
  int busy = 0;
  int unhealthy = 0;
  for (const json& device : devices) {
    const std::string kind = text_field(device, "kind", "?");
    if (kinds.find(kind) == std::string::npos) kinds += (kinds.empty() ? "" : "/") + kind;
    busy += is_busy(device);
    unhealthy += !text_field(device, "health").empty();
  }
  return fmt::format("{} of {} {} busy{}", busy, devices.size(), kinds,
                     unhealthy ? fmt::format(", {} unhealthy", unhealthy) : "");
}

// ", to be drained from 2026-03-01 20:00 until 2026-03-01 23:00: new fans", of a drain or a reservation.
std::string window_summary(const std::string& what, const json& window) {
  const std::string reason = with_local_times(text_field(window, "reason"));
  return (begins_later(window, now_millis()) ? ", to be " : ", ") + what + window_text(window, now_millis()) +
         (reason.empty() ? "" : ": " + reason);
}

// ", drained until …, reserved for nlp from …"; "" for a node that takes all work.
std::string limits_summary(const json& node) {
  const json unknown = field(node, "unknown");
  const json drain = field(node, "drain"), reservation = field(node, "reservation");
  std::string text;
  if (unknown.is_object())
    text += fmt::format(", {} unknown tasks{}{}", field(unknown, "tasks").size(),
                        field(unknown, "cluster").is_null() ? "" : " of another cluster",
                        field(unknown, "adopted").is_null()        ? " (podium nodes adopt)"
                        : text_field(unknown, "adopted") == "stop" ? ", being stopped"
                                                                   : ", which run to their end");
  if (!drain.is_null()) text += window_summary("drained", drain);
  if (!reservation.is_null())
    text += window_summary("reserved for " + text_field(reservation, "account"), reservation);
  return text;
}

// "partition=nlp rack=r1"
std::string labels_summary(const json& labels) {
  std::string text;
  for (const auto& [key, value] : labels.items())
    text += (text.empty() ? "" : " ") + key + "=" + value.get<std::string>();
  return text;
}

bool clock_is_off(const json& node) {
  const json clock = field(node, "clock");
  return clock.is_object() && flag_field(clock, "off");
}

// "+12ms", "-1h": beside the cluster's time.
std::string clock_summary(const json& clock) {
  if (!clock.is_object()) return "–";
  const Duration ahead{integer_field(clock, "ahead_ms")};
  if (ahead == Duration{0}) return "0ms";
  const bool far = flag_field(clock, "off");
  const Duration size = std::chrono::abs(ahead);
  return (ahead < Duration{0} ? "-" : "+") +
         format_duration(far ? std::chrono::floor<std::chrono::seconds>(size) : size);
}

// "3s ago"; "not since 2026-03-01 12:04", when the coordinator started.
std::string seen_text(const json& node, const std::string& started) {
  const json seen = field(node, "last_seen_ms");
  return seen.is_number() || started.empty() ? human_ago(seen, now_millis()) : "not since " + started;
}

bool any_unheard(const json& nodes) {
  return std::ranges::any_of(nodes, [](const json& node) {
    return node.contains("last_seen_ms") && node["last_seen_ms"].is_null();
  });
}

// When the coordinator started, where a node has not been heard since.
std::string start_of(const Client& client, const json& nodes) {
  if (!any_unheard(nodes)) return "";
  const double uptime = number_field(client.get("/health"), "uptime_seconds");
  return local_time(from_millis(now_millis() - static_cast<std::int64_t>(uptime * 1000)));
}

std::string nodes_table(const json& nodes, const std::string& started, const Terminal& terminal) {
  Table table({{"NODE", false, true},
               {"STATE"},
               {"DEVICES"},
               {"LABELS", false, true},
               {"ADDRESS"},
               {"AGENT"},
               {"CLOCK", true},
               {"SEEN", true}});
  for (const json& node : nodes) {
    const std::string state = text_field(node, "state", "?") + limits_summary(node);
    table.add({{text_field(node, "id")},
               {state, state_colour(text_field(node, "state", "?"))},
               {devices_summary(node.value("devices", json::array()))},
               {labels_summary(node.value("labels", json::object()))},
               {text_field(node, "address")},
               {text_field(node, "agent_version")},
               {clock_summary(field(node, "clock")), clock_is_off(node) ? Colour::red : Colour::none},
               {seen_text(node, started)}});
  }
  return table.empty() ? "No nodes. Start an agent on each machine: podium-agent --help\n"
                       : table.render(terminal);
}

std::string devices_table(const json& node, const Terminal& terminal) {
  Table table({{"DEVICE", true},
               {"KIND"},
               {"MODEL", false, true},
               {"MEMORY", true},
               {"JOB", true},
               {"HEALTH", false, true}});
  for (const json& device : node.value("devices", json::array())) {
    const std::string health = text_field(device, "health");
    table.add({{std::to_string(integer_field(device, "index"))},
               {text_field(device, "kind", "?") + (flag_field(device, "artificial") ? " (artificial)" : "")},
               {text_field(device, "model")},
               {human_bytes(integer_field(device, "memory_bytes"))},
               {is_busy(device) ? std::to_string(device["job"].get<std::int64_t>()) : "–"},
               {health.empty() ? "good" : health, health.empty() ? Colour::green : Colour::red}});
  }
  return table.render(terminal);
}

void run_nodes(const std::string& name, const Session& session) {
  const Client client(session);
  const json reply = name.empty() ? client.get_pages("/nodes", {}, "nodes", std::size_t{1} << 20)
                                  : client.get("/nodes/" + encode_component(name));
  if (session.json) return print(reply.dump() + "\n");
  const Terminal terminal = detect_terminal();
  const json nodes = name.empty() ? reply.at("nodes") : json::array({reply});
  const std::string table = nodes_table(nodes, start_of(client, nodes), terminal);
  print(name.empty() ? table : table + "\n" + devices_table(reply, terminal));
}

// A name that no node has may be a mistyped command.
void list_or_show(const CLI::App& nodes, const std::string& name, const Session& session) {
  try {
    run_nodes(name, session);
  } catch (const Failure& failure) {
    std::vector<std::string> commands;
    for (const CLI::App* below : nodes.get_subcommands({})) commands.push_back(below->get_name());
    const auto meant = failure.status() == Exit::refused ? closest(name, commands) : std::nullopt;
    if (!meant) throw;
    throw Failure(Exit::refused,
                  fmt::format("{}; did you mean \"podium nodes {}\"?", failure.what(), *meant));
  }
}

}  // namespace

void add_nodes(CLI::App& app, Session& session) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("nodes", "List nodes, or one node's devices");
  command->add_option("NODE", *name, "Only this node, with its devices");
  command->footer(R"(
Examples:
  podium nodes
  podium nodes node-1
  podium nodes drain node-1 --reason "new fans"
  podium nodes resume node-1
  podium nodes reserve node-1 --account nlp --until +7d
  podium nodes label node-1 partition=nlp)");
  add_list_word(*command);
  add_node_operations(*command, session);
  command->callback([command, name, &session] {
    if (is_list(*command)) list_or_show(*command, *name, session);
  });
}

}  // namespace podium::cli
