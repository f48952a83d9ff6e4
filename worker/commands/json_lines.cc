#include "worker/commands/json_lines.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "worker/input/json_object.h"

namespace podium {

std::string LineId::text() const {
  return value_.is_string() ? value_.get<std::string>() : value_.is_null() ? "" : value_.dump();
}

void LineId::add_to(nlohmann::ordered_json& object) const {
  if (!value_.is_null()) object["id"] = value_;
}

JsonLine::JsonLine(std::string_view line, const LinePlace& place)
    : origin_(place.text()), object_(parse_json_object(line, origin_)) {}

std::string JsonLine::text(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end() || !found->is_string())
    throw BadData(origin_ + ": the object has no text \"" + key + "\"");
  return *found;
}

LineId JsonLine::id() const {
  const auto found = object_.find("id");
  if (found == object_.end()) return {};
  if (!found->is_string() && !found->is_number_integer())
    throw BadData(fmt::format("{}: the \"id\" is {}; it must be a text or a whole number", origin_,
                              found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return LineId(*found);
}

void JsonLine::refuse_others(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : object_.items())
    if (key != "id" && std::ranges::find(keys, key) == keys.end())
      throw BadData(fmt::format("{}: \"{}\" is no key here; beside an \"id\" there may be \"{}\"", origin_,
                                key, fmt::join(keys, "\", \"")));
}

}  // namespace podium
