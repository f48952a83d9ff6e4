#include "worker/tokenizer/token_ids.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "worker/input/bad_data.h"

namespace podium {
namespace {

using nlohmann::json;

void add(TokenIds& ids, const std::string& token, const json& id, const std::string& origin) {
  if (!id.is_number_unsigned() || id > INT32_MAX)
    throw BadData(origin + ": the id of token \"" + token + "\" is no whole number from 0");
  if (!ids.emplace(token, id.get<std::int32_t>()).second)
    throw BadData(origin + ": the token \"" + token + "\" appears a second time");
}

void need_object(bool is_object, const std::string& origin) {
  if (!is_object) throw BadData(origin + ": the vocabulary must be one JSON object of tokens and their ids");
}

[[noreturn]] void refuse(const json::parse_error& error, std::string_view text, const std::string& origin) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
  throw BadData(origin + ":" + std::to_string(1 + std::count(text.begin(), end, '\n')) + ": " + error.what());
}

}  // namespace

// nlohmann's own object would keep the last of two equal tokens.
TokenIds parse_token_ids(std::string_view text, const std::string& origin) {
  TokenIds ids;
  std::string token;
  const auto take = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 0)
      need_object(event == json::parse_event_t::object_start || event == json::parse_event_t::object_end,
                  origin);
    if (event == json::parse_event_t::key) token = value.get<std::string>();
    if (depth == 0 || event == json::parse_event_t::key) return true;
    add(ids, token, event == json::parse_event_t::value ? value : json(), origin);
    return false;  // it is kept in `ids`
  };
  try {
    [[maybe_unused]] const json whole = json::parse(text, take);
  } catch (const json::parse_error& error) {
    refuse(error, text, origin);
  }
  return ids;
}

TokenIds token_ids(const json& object, const std::string& origin) {
  need_object(object.is_object(), origin);
  TokenIds ids;
  for (const auto& [token, id] : object.items()) add(ids, token, id, origin);
  return ids;
}

std::vector<std::string> tokens_by_id(const TokenIds& ids, const std::string& origin) {
  std::vector<const std::string*> names(ids.size(), nullptr);
  for (const auto& [name, id] : ids) {
    if (id >= static_cast<std::int32_t>(ids.size()))
      throw BadData(origin + ": token \"" + name + "\" has id " + std::to_string(id) + " among " +
                    std::to_string(ids.size()) + " tokens; ids must count from 0 without a gap");
    const std::string*& place = names[static_cast<std::size_t>(id)];
    if (place)
      throw BadData(origin + ": the tokens \"" + *place + "\" and \"" + name + "\" share id " +
                    std::to_string(id));
    place = &name;
  }
  std::vector<std::string> tokens;
  for (const std::string* name : names) tokens.push_back(*name);
  return tokens;
}

json parse_json(std::string_view text, const std::string& origin) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    refuse(error, text, origin);
  }
}

}  // namespace podium
