#include "common/spec/yaml_document.h"

#include <optional>
#include <string>
#include <utility>

#include "common/spec/yaml_scalar.h"
#include "common/spec/yaml_text.h"
#include "common/spec/yaml_tree.h"

namespace podium {
namespace {

using nlohmann::json;

// Turns the tree into JSON, noting places on the way and collecting what cannot be turned.
class Converter {
 public:
  Converter(SourceMap& places, Problems& problems) : places_(places), problems_(problems) {}

  json convert(const YamlNode& node, const std::string& pointer, int depth) {
    if (!spend(node, pointer)) return nullptr;
    if (depth > kMaxYamlDepth) {
      refuse_aliases(pointer, "aliases nest values more than " + std::to_string(kMaxYamlDepth) +
                                  " deep here; flatten them");
      return nullptr;
    }
    switch (node.kind) {
      case YamlNode::Kind::scalar:
        return scalar(node, pointer);
      case YamlNode::Kind::list:
        return list(node, pointer, depth);
      case YamlNode::Kind::map:
        return map(node, pointer, depth);
    }
    PODIUM_CHECK(false, "unknown YamlNode::Kind");
  }

  bool exhausted() const { return spent_ > kMaxExpandedBytes || values_ > kMaxYamlValues; }

 private:
  // Charges for one value. Where the document has grown too large it returns false, and adds a problem the
  // first time.
  bool spend(const YamlNode& node, const std::string& pointer) {
    if (exhausted()) return false;
    spent_ += 16 + node.text.size();
    ++values_;
    if (exhausted()) refuse_aliases(pointer, "aliases make the spec too large here; use fewer of them");
    return !exhausted();
  }

  // Only aliases reach these limits. The value at `pointer` stands at its anchor, which may be without fault.
  void refuse_aliases(const std::string& pointer, std::string message) {
    problems_.add_at(alias_.value_or(places_.value(pointer)), pointer, std::move(message));
  }

  // Calls `expand` for what stands at `value`, noting the outermost alias.
  void within(const YamlValue& value, const auto& expand) {
    const bool enters = !alias_ && value.is_alias();
    if (enters) alias_ = value.place;
    expand(*value.node);
    if (enters) alias_.reset();
  }

  json scalar(const YamlNode& node, const std::string& pointer) {
    if (node.quoted) return node.text;
    if (auto value = plain_scalar(node.text)) {
      if (!value->is_string() && value->dump() != node.text) places_.set_written(pointer, node.text);
      return *std::move(value);
    }
    problems_.add(pointer, node.text + " is not a finite number; write one");
    return nullptr;
  }

  json list(const YamlNode& node, const std::string& pointer, int depth) {
    json out = json::array();
    for (const YamlValue& value : node.items) {
      const std::string at = pointer + "/" + std::to_string(out.size());
      places_.add(at, {value.node->place, value.node->place});
      within(value, [&](const YamlNode& item) { out.push_back(convert(item, at, depth + 1)); });
      if (exhausted()) break;
    }
    return out;
  }

  json map(const YamlNode& node, const std::string& pointer, int depth) {
    json out = json::object();
    for (const auto& [key, value] : node.members)
      if (key->quoted || key->text != "<<") add_member(out, *key, value, pointer, depth);
    for (const auto& [key, value] : node.members)
      if (!key->quoted && key->text == "<<") merge(out, value, pointer, depth);
    return out;
  }

  void add_member(json& out, const YamlNode& key, const YamlValue& value, const std::string& pointer,
                  int depth) {
    if (exhausted()) return;
    const std::string at = pointer + "/" + pointer_step(key.text);
    if (out.contains(key.text)) {
      const Place first = places_.key(at);
      problems_.add_at(key.place, at,
                       "key \"" + key.text + "\" is written twice, first in line " +
                           std::to_string(first.line) + "; keep one");
      return;
    }
    places_.add(at, {key.place, value.node->place});
    within(value, [&](const YamlNode& node) { out[key.text] = convert(node, at, depth + 1); });
  }

  // "<<: *base" adds the members of `base` that are not there yet.
  void merge(json& out, const YamlValue& source, const std::string& pointer, int depth) {
    within(source, [&](const YamlNode& node) { merge_node(out, node, pointer, depth); });
  }

  void merge_node(json& out, const YamlNode& source, const std::string& pointer, int depth) {
    if (source.kind == YamlNode::Kind::list) {
      for (const YamlValue& item : source.items) {
        if (item.node->kind == YamlNode::Kind::list) return refuse_merge(source, pointer);
        merge(out, item, pointer, depth);
      }
      return;
    }
    if (source.kind != YamlNode::Kind::map) return refuse_merge(source, pointer);
    for (const auto& [key, value] : source.members) {
      if (!spend(*key, pointer)) return;
      if (!key->quoted && key->text == "<<") {
        if (depth < kMaxYamlDepth) merge(out, value, pointer, depth + 1);
      } else if (!out.contains(key->text)) {
        add_member(out, *key, value, pointer, depth);
      }
    }
  }

  void refuse_merge(const YamlNode& source, const std::string& pointer) {
    problems_.add_at(source.place, pointer,
                     "\"<<\" merges a mapping or a list of mappings, as in \"<<: *base\"");
  }

  SourceMap& places_;
  Problems& problems_;
  std::optional<Place> alias_;  // the outermost that is being expanded
  std::size_t spent_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

std::optional<json> read_yaml(std::string_view text, SourceMap& places, Problems& problems) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  if (!check_yaml_text(text, problems)) return std::nullopt;
  const YamlNodePtr root = read_yaml_tree(text, problems);
  if (!root) return std::nullopt;
  places.add("", {root->place, root->place});
  Converter converter(places, problems);
  json value = converter.convert(*root, "", 0);
  if (converter.exhausted()) return std::nullopt;
  return value;
}

}  // namespace podium
