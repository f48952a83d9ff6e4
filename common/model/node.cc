#include "common/model/node.h"

#include <algorithm>

#include "common/model/codec.h"

namespace podium {

using nlohmann::json;

namespace {

constexpr EnumNames<NodeState, 3> kNodeStates{
    {{NodeState::up, "up"}, {NodeState::unknown, "unknown"}, {NodeState::lost, "lost"}}};

// 1 to `longest` ASCII letters, digits and characters of `others`.
bool holds_only(std::string_view text, std::size_t longest, std::string_view others) {
  const auto allowed = [others](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, allowed);
}

}  // namespace

std::string_view to_string(NodeState state) { return enum_name(kNodeStates, state); }
NodeState node_state_from(std::string_view text) { return enum_value(kNodeStates, text, "node state"); }

bool is_node_name(std::string_view text) {
  return holds_only(text, 63, "-_.") && text.front() != '.' && text.find("..") == std::string_view::npos;
}
bool is_address(std::string_view text) { return holds_only(text, 253, "-_.:%"); }
bool is_label_text(std::string_view text) { return holds_only(text, 63, "-_./"); }

json to_json(const Device& device) {
  json out{{"index", device.index},
           {"kind", device.kind},
           {"model", device.model},
           {"uuid", device.uuid},
           {"memory_bytes", device.memory_bytes},
           {"threads", device.threads},
           {"artificial", device.artificial},
           {"health", device.health}};
  if (device.island >= 0) out["island"] = device.island;
  if (device.numa >= 0) out["numa"] = device.numa;
  if (!device.paths.empty()) out["paths"] = device.paths;
  return out;
}

Device device_from_json(const json& in) {
  Device device;
  device.index = in.at("index");
  device.kind = in.at("kind");
  device.model = in.value("model", "");
  device.uuid = in.value("uuid", "");
  device.memory_bytes = in.value("memory_bytes", std::int64_t{0});
  device.threads = in.value("threads", 0);
  device.artificial = in.value("artificial", false);
  device.health = in.value("health", "");
  device.island = in.value("island", -1);
  device.numa = in.value("numa", -1);
  device.paths = in.value("paths", std::vector<std::string>{});
  return device;
}

json to_json(const NodeDescription& node) {
  json devices = json::array();
  for (const Device& device : node.devices) devices.push_back(to_json(device));
  json out{{"id", node.id.value}, {"address", node.address}, {"agent_version", node.agent_version},
           {"boot", node.boot},   {"labels", node.labels},   {"devices", std::move(devices)}};
  if (!node.key.empty()) out["key"] = node.key;
  if (!node.shared.empty()) out["shared"] = node.shared;
  return out;
}

NodeDescription node_description_from_json(const json& in) {
  NodeDescription node;
  node.id.value = in.at("id");
  node.address = in.at("address");
  node.agent_version = in.value("agent_version", "");
  node.key = in.value("key", "");
  node.boot = in.value("boot", "");
  node.labels = in.value("labels", std::map<std::string, std::string>{});
  for (const json& device : in.at("devices")) node.devices.push_back(device_from_json(device));
  node.shared = in.value("shared", "");
  return node;
}

}  // namespace podium
