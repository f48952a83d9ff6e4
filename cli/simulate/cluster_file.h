// The cluster to simulate, from a YAML file: groups of equal nodes, by kind. The format is in
// docs/simulation.md. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/model/node.h"

namespace podium::cli {

struct NodeGroup {
  std::string kind;  // of the preset: "dgx-2h"
  int count = 1;
  int devices = 1;          // on each node
  std::string device_kind;  // cpu | gpu
  std::string model;
  std::string partition;  // "" : of none
  std::map<std::string, std::string> labels;
};

struct ClusterFile {
  std::vector<NodeGroup> groups;  // one at least
};

Result<ClusterFile> parse_cluster(std::string_view yaml, const std::string& name);

// The group's nodes, numbered from `first` on: "dgx-2h-0001".
std::vector<NodeDescription> nodes_of(const NodeGroup& group, int first);

}  // namespace podium::cli
