// The cluster to simulate, from a YAML file: groups of equal nodes, by kind, and the rules of accounts. The
// format is in docs/simulation.md. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/model/node.h"
#include "coordinator/core/accounts/account_ledger.h"

namespace podium::cli {

// How a group's nodes hang together; labels of the nodes, as the scheduler reads them (fabric.h).
struct NodeNetwork {
  int per_switch = 0;          // nodes under each leaf switch; 0: no switch is known
  int switches_per_spine = 0;  // 0: no spine is known
  int rails = 0;               // of each node, 0: unknown
  int rail_gbps = 0;
  int uplink_gbps = 0;  // a node's part of its switch's
};

struct NodeGroup {
  std::string kind;  // "cpu", or of a preset (node_preset.h): "dgx-2h"
  int count = 1;
  int devices = 1;          // on each node
  std::string device_kind;  // cpu | gpu
  std::string partition;    // "" : of none
  std::map<std::string, std::string> labels;
  NodeNetwork network;
};

struct ClusterFile {
  std::vector<NodeGroup> groups;  // one at least
  std::map<std::string, AccountRules> accounts;
};

std::vector<std::string> node_kinds();
// One node of that kind; nothing where there is no such kind.
std::optional<NodeGroup> group_of_kind(std::string_view kind);

Result<ClusterFile> parse_cluster(std::string_view yaml, const std::string& name);

// The group's nodes, numbered from `first` on: "dgx-2h-0001".
std::vector<NodeDescription> nodes_of(const NodeGroup& group, int first);

}  // namespace podium::cli
