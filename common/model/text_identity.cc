#include "common/model/text_identity.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/model/hash_text.h"

namespace podium {
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
  if (text.tokens < 0 || text.sentences < 0 || (!text.xxh3.empty() && !is_xxh3_text(text.xxh3)))
    throw std::invalid_argument(
        "\"text\" is no identity of a text: it needs two counts and 16 hexadecimal digits");
  return text;
}

}  // namespace podium
