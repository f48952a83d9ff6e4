// A YAML document as a tree of nodes with places, built from yaml-cpp's events. Repeated keys are still in it
// and aliases share their node: yaml_document.cc decides about both.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/source_map.h"

namespace podium {

struct YamlNode;
// Shared because an alias is a second owner of its anchor's node; the tree has no cycles.
using YamlNodePtr = std::shared_ptr<const YamlNode>;

// Where a value is written: the place of the alias, where it is one, and that of the node otherwise.
struct YamlValue {
  YamlNodePtr node;
  Place place;

  bool is_alias() const;
};

struct YamlNode {
  enum class Kind { scalar, list, map };

  Kind kind = Kind::scalar;
  Place place;
  bool quoted = false;  // a quoted scalar is text, whatever it looks like
  std::string text;     // of a scalar
  std::vector<YamlValue> items;
  std::vector<std::pair<YamlNodePtr, YamlValue>> members;
};

inline bool YamlValue::is_alias() const { return place != node->place; }

// Adds a problem and returns null where the text is not one YAML document within the limits of
// yaml_document.h.
YamlNodePtr read_yaml_tree(std::string_view text, Problems& problems);

}  // namespace podium
