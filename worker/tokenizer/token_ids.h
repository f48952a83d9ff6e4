// The ids of tokens as JSON tells them, {"token": id, …}: vocab.json, and part of tokenizer.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace podium {

using TokenIds = std::unordered_map<std::string, std::int32_t>;

// Ids are below it, so that those of tokens which get the next ids are still of 32 bits.
inline constexpr std::int32_t kMostTokens = std::int32_t{1} << 30;

// All functions throw BadData; `origin` names the source.

// Of a text that is one such object, in which a token that appears twice is a mistake.
TokenIds parse_token_ids(std::string_view text, const std::string& origin);
// Of an object that was parsed.
TokenIds token_ids(const nlohmann::json& object, const std::string& origin);

// The tokens by id; ids must count from 0 without a gap.
std::vector<std::string> tokens_by_id(const TokenIds& ids, const std::string& origin);

// The id that `token` has in a JSON file.
std::int32_t token_id(const nlohmann::json& id, const std::string& token, const std::string& origin);

// JSON of a whole file, at most 64 levels deep, for what reads it recurses. The message names the line of a
// mistake.
nlohmann::json parse_json(std::string_view text, const std::string& origin);

}  // namespace podium
