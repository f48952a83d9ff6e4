// Machine types that Podium knows: their number of GPUs and the islands that NVLink joins. Simulated clusters
// are built of them, and agents on such machines know their islands.
#pragma once

#include <map>
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
  int rails = 0;                  // network links for training
  int rail_gbps = 0;              // bandwidth of one, in Gb/s
};

const NodePreset* find_node_preset(std::string_view name);  // nullptr: there is none
std::vector<std::string> node_preset_names();

// Numbers the islands of a machine's GPUs; `devices` is in the order of the index.
void number_islands(const NodePreset& preset, std::vector<Device>& devices);

// Adds the machine's labels kind, rails and rail_gbps where `labels` lacks them.
void add_labels(const NodePreset& preset, std::map<std::string, std::string>& labels);

// A healthy node of that make, with its labels and made-up GPUs.
NodeDescription artificial_node(const NodePreset& preset, NodeId id);

}  // namespace podium
