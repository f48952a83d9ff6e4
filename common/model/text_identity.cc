#include "common/model/text_identity.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace podium {
namespace {

constexpr std::size_t kHashDigits = 16;

bool is_hash_or_unknown(const std::string& text) {
  return text.empty() ||
         (text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace

std::string describe(const TextIdentity& text) {
  std::string out = std::to_string(text.tokens) + " tokens";
  if (text.sentences > 0) out += " in " + std::to_string(text.sentences) + " sentences";
  return out + " (XXH3 " + text.xxh3 + ")";
}

nlohmann::json to_json(const TextIdentity& text) {
  return {{"tokens", text.tokens}, {"sentences", text.sentences}, {"xxh3", text.xxh3}};
}

TextIdentity text_identity_from_json(const nlohmann::json& value) {
  TextIdentity text{value.at("tokens"), value.at("sentences"), value.at("xxh3")};
  if (text.tokens < 0 || text.sentences < 0 || !is_hash_or_unknown(text.xxh3))
    throw std::invalid_argument(
        "\"text\" is no identity of a text: it needs two counts and 16 hexadecimal digits");
  return text;
}

}  // namespace podium
