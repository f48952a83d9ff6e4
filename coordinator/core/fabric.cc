#include "coordinator/core/fabric.h"

#include <cstdint>

namespace podium {
namespace {

// Switches beyond the 65,535th count as unknown.
template <class Map, class Key>
std::uint16_t number_of(Map& numbers, const Key& key) {
  if (const auto found = numbers.find(key); found != numbers.end()) return found->second;
  if (numbers.size() >= UINT16_MAX) return 0;
  return numbers[key] = static_cast<std::uint16_t>(numbers.size() + 1);
}

}  // namespace

NetworkPlace Fabric::place_of(const std::map<std::string, std::string>& labels) {
  const auto leaf = labels.find("switch");
  if (leaf == labels.end()) return {};
  const auto spine = labels.find("spine");
  const std::string parent = spine == labels.end() ? "" : spine->second;
  return {number_of(leaves_, std::pair(parent, leaf->second)),
          parent.empty() ? std::uint16_t{0} : number_of(spines_, parent)};
}

}  // namespace podium
