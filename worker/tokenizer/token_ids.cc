#include "worker/tokenizer/token_ids.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "worker/input/bad_data.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 64;

void add(TokenIds& ids, const std::string& token, const json& id, const std::string& origin) {
  if (!ids.emplace(token, token_id(id, token, origin)).second)
    throw BadData(origin + ": the token \"" + token + "\" appears a second time");
}

void need_object(bool is_object, const std::string& origin) {
  if (!is_object) throw BadData(origin + ": the vocabulary must be one JSON object of tokens and their ids");
}

// "file:7": the line at byte `bytes` of the text.
std::string place(const std::string& origin, std::string_view text, std::size_t bytes) {
  const std::string_view before = text.substr(0, bytes);
  return origin + ":" + std::to_string(1 + std::ranges::count(before, '\n'));
}

json parse_whole(std::string_view text, const std::string& origin,
                 const json::parser_callback_t& on_event = nullptr) {
  try {
    return json::parse(text, on_event);
  } catch (const json::parse_error& error) {
    throw BadData(place(origin, text, error.byte) + ": " + error.what());
  } catch (const json::exception& error) {  // a number out of range, whose place it does not tell
    throw BadData(origin + ": " + error.what());
  }
}

void check_depth(std::string_view text, const std::string& origin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      i += c == '\\';
    } else if (c == ']' || c == '}') {
      --depth;
    } else if ((c == '[' || c == '{') && ++depth > kMostDepth) {
      throw BadData(place(origin, text, i) + ": the JSON is more than " + std::to_string(kMostDepth) +
                    " levels deep");
    }
  }
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
  [[maybe_unused]] const json whole = parse_whole(text, origin, take);
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

std::int32_t token_id(const json& id, const std::string& token, const std::string& origin) {
  if (!id.is_number_unsigned() || id >= kMostTokens)
    throw BadData(origin + ": the id of token \"" + token + "\" is no whole number from 0 to " +
                  std::to_string(kMostTokens - 1));
  return id.get<std::int32_t>();
}

json parse_json(std::string_view text, const std::string& origin) {
  check_depth(text, origin);
  return parse_whole(text, origin);
}

}  // namespace podium
