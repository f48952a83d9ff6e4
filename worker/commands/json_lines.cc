#include "worker/commands/json_lines.h"

namespace podium {

JsonLine::JsonLine(std::string_view line, const LinePlace& place) : origin_(place.text()) {
  try {
    object_ = nlohmann::json::parse(line);
  } catch (const nlohmann::json::exception& error) {
    throw BadData(origin_ + ": " + error.what());
  }
  if (!object_.is_object()) throw BadData(origin_ + ": the line is no JSON object");
}

std::string JsonLine::text(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end() || !found->is_string())
    throw BadData(origin_ + ": the object has no text \"" + key + "\"");
  return *found;
}

std::string JsonLine::id() const {
  const auto found = object_.find("id");
  if (found == object_.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace podium
