// The machines whose make Podium knows: how many GPUs they have and which of them NVLink joins. Clusters made
// up for simulations are built of them, and agents on them know their islands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/node.h"

namespace podium {

struct NodePreset {
  std::string_view name;  // the node's label "kind"
  std::string_view model;
  int devices = 0;
  std::int64_t memory_bytes = 0;  // of a device
  int island = 0;                 // devices that NVLink joins; islands follow one another by device index
};

const NodePreset* find_node_preset(std::string_view name);  // nullptr: there is none
std::vector<std::string> node_preset_names();

// Numbers the islands of a machine's GPUs, which come in the order of their index.
void number_islands(const NodePreset& preset, std::vector<Device>& devices);

// A healthy node of that make, with the label "kind" set and made-up GPUs.
NodeDescription artificial_node(const NodePreset& preset, NodeId id);

}  // namespace podium
