// The cluster's network as its nodes' labels tell it: "switch" names a node's leaf switch, "spine" that
// switch's parent. Switches of one name under two spines are two.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "coordinator/core/free_devices.h"

namespace podium {

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
