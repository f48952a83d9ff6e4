// A node of the cluster and its devices, as its agent reports them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/id.h"

namespace podium {

struct Device {
  int index = 0;             // on its node
  std::string kind = "cpu";  // cpu | gpu
  std::string model;         // "NVIDIA H200", "Intel Xeon …"
  std::string uuid;          // of the GPU; "" for a CPU slot
  std::int64_t memory_bytes = 0;
  int threads = 0;          // CPU threads that come with it; 0: unknown
  bool artificial = false;  // made up by --artificial-gpus
  std::string health;       // "" when healthy, else why it must not be used
  int island = -1;  // on its node: devices of one island reach each other over NVLink; -1: none, or unknown
  int numa = -1;    // the NUMA node of the machine that it hangs on; -1: unknown
  // How it reaches each GPU of its node, by index, as `nvidia-smi topo -m` names it: NV<links>, PIX, PXB,
  // PHB, NODE, SYS, and X for itself. Empty: unknown.
  std::vector<std::string> paths;

  bool operator==(const Device&) const = default;
};

// What an agent reports of its node when it joins and whenever it changes.
struct NodeDescription {
  NodeId id;
  std::string address;  // where this node's worker processes can be reached by the others
  std::string agent_version;
  std::string boot;  // random for each agent process
  std::map<std::string, std::string> labels;
  std::vector<Device> devices;
  std::string key =
      {};  // of the agent: made at its first start, kept in its home; "" from before there was one
  std::string shared = {};  // identity of its shared folder; "": not reported

  bool operator==(const NodeDescription&) const = default;
};

// A silent node becomes unknown and later lost, and its attempts with it (common/model/lease.h).
//
//   up ⇄ unknown → lost → up
//
enum class NodeState { up, unknown, lost };

std::string_view to_string(NodeState state);
NodeState node_state_from(std::string_view text);  // throws std::invalid_argument

// Rules for names on an agent's command line and in its reports, so that no name breaks a line, a header or a
// path. The texts complete "… must".
inline constexpr std::string_view kNodeNameRule =
    "must have 1 to 63 letters, digits, \"-\", \"_\" and \".\", and neither begin with \".\" nor hold \"..\"";
inline constexpr std::string_view kAddressRule =
    "must be a host name or an IP address: 1 to 253 letters, digits and \"-\", \"_\", \".\", \":\", \"%\"";
inline constexpr std::string_view kLabelRule =
    "must have 1 to 63 letters, digits, \"-\", \"_\", \".\" and \"/\"";
bool is_node_name(std::string_view text);
bool is_address(std::string_view text);
bool is_label_text(std::string_view text);

nlohmann::json to_json(const Device& device);
Device device_from_json(const nlohmann::json& json);
nlohmann::json to_json(const NodeDescription& node);
NodeDescription node_description_from_json(const nlohmann::json& json);

}  // namespace podium
