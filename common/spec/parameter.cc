#include "common/spec/parameter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "common/spec/load.h"
#include "common/spec/schema.h"
#include "common/spec/yaml_scalar.h"

namespace podium {
namespace {

using nlohmann::json;

bool is_key(const std::string& path) {
  return std::any_of(all_keys().begin(), all_keys().end(),
                     [&](const Suggestion& key) { return key.second == path; });
}

// Reads the text as YAML does; a number stays text where only text can be meant.
json value_of(const Override& written) {
  const json& type = resolved(*schema_of(json::json_pointer(pointer_of(written.path)))).at("type");
  return type == "string" ? json(written.value) : plain_scalar(written.value).value_or(written.value);
}

}  // namespace

std::string pointer_of(const std::string& path) {
  std::string pointer = "/" + pointer_step(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

bool is_parameter(const std::string& path) {
  if (path == "version" || path == "name" || path.starts_with("sweep") || path.starts_with("scaling"))
    return false;
  if (path.starts_with("code.") || path.ends_with('.') || path.find("..") != std::string::npos) return false;
  const bool is_free =
      std::ranges::any_of(std::initializer_list<const char*>{"labels.", "parameters.", "env."},
                          [&](const char* mapping) { return path.starts_with(mapping); });
  if (!is_free && !is_key(path)) return false;
  const json* schema = schema_of(json::json_pointer(pointer_of(path)));
  if (!schema) return false;
  const json& type = resolved(*schema).at("type");
  return type.is_array() || (type != "object" && type != "array");
}

std::string why_no_parameter(const std::string& path, const json& document) {
  if (path == "parameters") return "; write the path of one, as in parameters.lr";
  if (path.starts_with("code.")) return ", which all jobs of a study share";
  if (is_key(path) && resolved(*schema_of(json::json_pointer(pointer_of(path)))).at("type") == "array")
    return ", which is a list";
  std::vector<Suggestion> by_path;
  std::vector<Suggestion> by_name;
  for (const auto& [name, full] : all_keys())
    if (is_parameter(full)) {
      by_path.emplace_back(full.substr(0, full.rfind('.') + 1) + name, full);
      by_name.emplace_back(name, full);
    }
  constexpr int kSlip = 3;  // more edits than a slip of the pen: the last name tells more than the path
  auto near = closest(path, by_path);
  if (!near || edit_distance(path, *near) > kSlip)
    if (const auto named = closest(path.substr(path.rfind('.') + 1), by_name)) near = named;
  if (document.is_object() && document.contains("command") && (!near || edit_distance(path, *near) > kSlip))
    return "; write parameters." + path.substr(path.rfind('.') + 1) + " for a value of your own program";
  return near ? "; did you mean \"" + *near + "\"?"
              : "; write the full path of one parameter, such as training.optimizer.lr";
}

void set_parameter(json& document, const std::string& path, json value) {
  const json::json_pointer at(pointer_of(path));
  json::json_pointer around = at.parent_pointer();
  while (!document.contains(around)) around = around.parent_pointer();
  // A part of a value that may be written whole or in parts, as resources.devices.
  const json* schema = schema_of(around);
  if (schema && resolved(*schema).at("type").is_array() && !document.at(around).is_object())
    document[around] = json::object();
  if (document.at(around).is_object()) document[at] = std::move(value);
}

void apply_overrides(const std::vector<Override>& overrides, json& document, SourceMap& places,
                     Problems& problems) {
  for (const Override& written : overrides) {
    if (!is_parameter(written.path)) {
      problems.add_at(
          kBesideTheFile, "",
          fmt::format("cannot set \"{}\"{}", written.path, why_no_parameter(written.path, document)));
      continue;
    }
    places.set(pointer_of(written.path), {kBesideTheFile, kBesideTheFile});
    if (document.is_object()) set_parameter(document, written.path, value_of(written));
  }
}

}  // namespace podium
