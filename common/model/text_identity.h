// The identity of a text, independent of where its files lie: it reveals that a run continues on another
// text, or repeats a run on another text.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace podium {

struct TextIdentity {
  std::int64_t tokens = 0;
  std::int64_t sentences = 0;  // 0 where the text is not cut into any
  std::string xxh3;            // of its tokens and where they are cut, 16 hexadecimal digits; "" unknown

  bool operator==(const TextIdentity&) const = default;
};

// "1234 tokens in 56 sentences (XXH3 0123456789abcdef)"
std::string describe(const TextIdentity& text);

nlohmann::json to_json(const TextIdentity& text);
// Throws nlohmann::json::exception, or std::invalid_argument for what is no identity.
TextIdentity text_identity_from_json(const nlohmann::json& json);

}  // namespace podium
