#include "worker/input/json_object.h"

#include <set>

#include "worker/input/bad_data.h"

namespace podium {

using nlohmann::json;

json parse_json_object(std::string_view line, const std::string& origin) {
  json object;
  std::set<std::string> names;
  const auto check = [&](int depth, json::parse_event_t event, const json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key && !names.insert(parsed).second)
      throw BadData(origin + ": has two members " + parsed.dump());
    return true;
  };
  try {
    object = json::parse(line, check);
  } catch (const json::exception& error) {
    throw BadData(origin + ": is no JSON: " + error.what());
  }
  if (!object.is_object()) throw BadData(origin + ": is no JSON object");
  return object;
}

}  // namespace podium
