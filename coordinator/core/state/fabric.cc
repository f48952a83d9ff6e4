#include "coordinator/core/state/fabric.h"

#include <charconv>
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

// A label's number; `otherwise` where it has no valid one.
std::uint32_t number_in(const std::map<std::string, std::string>& labels, const char* key,
                        std::uint32_t otherwise) {
  constexpr std::uint32_t kMost = 60'000;  // so that rails × bandwidth fits
  const auto label = labels.find(key);
  if (label == labels.end()) return otherwise;
  const std::string& text = label->second;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= kMost ? number : otherwise;
}

}  // namespace

std::uint32_t rails_of(const std::map<std::string, std::string>& labels) {
  return number_in(labels, "rails", 1);
}

NetworkPlace Fabric::place_of(const std::map<std::string, std::string>& labels) {
  const auto leaf = labels.find("switch");
  if (leaf == labels.end()) return {};
  const auto spine = labels.find("spine");
  const std::string parent = spine == labels.end() ? "" : spine->second;
  return {number_of(leaves_, std::pair(parent, leaf->second)),
          parent.empty() ? std::uint16_t{0} : number_of(spines_, parent),
          rails_of(labels) * number_in(labels, "rail_gbps", 0), number_in(labels, "uplink_gbps", 0)};
}

}  // namespace podium
