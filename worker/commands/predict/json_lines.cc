#include "worker/commands/predict/json_lines.h"

#include "worker/commands/output.h"
#include "worker/input/bad_data.h"

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

void for_each_group(const std::string& path, std::size_t most,
                    const std::function<void(const std::vector<JsonLine>& lines)>& take) {
  std::vector<JsonLine> lines;
  const auto take_all = [&] {
    if (lines.empty()) return;
    take(lines);
    lines.clear();
    flush_output();
  };
  const auto add = [&](std::string_view line, const LinePlace& place) {
    if (is_blank(line)) return;
    lines.emplace_back(line, place);
    if (lines.size() == most) take_all();
  };
  for_each_named_line(path, add, take_all);
  take_all();
}

}  // namespace podium
