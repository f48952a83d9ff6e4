// The cluster's network, from its nodes' labels: "switch" names a node's leaf switch, "spine" that switch's
// parent. Equal switch names under two spines are two switches. "rails" counts a node's links to its switch
// (where every rail has a switch of its own, "switch" names all of them together) and "rail_gbps" is the
// bandwidth of one; "uplink_gbps" is a node's part of what its switch has to the spine.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "coordinator/core/state/free_devices.h"

namespace podium {

// The number of a node's links to its switch; 1 where its labels do not say.
std::uint32_t rails_of(const std::map<std::string, std::string>& labels);

class Fabric {
 public:
  // Numbers switches and spines as they are first seen.
  NetworkPlace place_of(const std::map<std::string, std::string>& labels);

  bool operator==(const Fabric&) const = default;

 private:
  std::map<std::pair<std::string, std::string>, std::uint16_t> leaves_;  // by spine and switch
  std::map<std::string, std::uint16_t> spines_;
};

}  // namespace podium
