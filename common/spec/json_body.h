// The JSON body of a request that an operator or a tool wrote. All mistakes are reported together, each with
// its JSON pointer (RFC 6901), up to kMostMistakes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

inline constexpr std::size_t kMostMistakes = 20;  // reported of one body, which bounds the answer

// Parses one JSON object (RFC 8259); refuses repeated keys and deep nesting. Time and memory are linear in
// the text.
Result<nlohmann::json> parse_object(std::string_view text);

// The error for the value at `pointer`.
Error malformed(const std::string& message, const std::string& pointer);
// Whether `errors` has kMostMistakes, and says that there are more.
bool is_full(const Errors& errors);
// Adds the mistake; at kMostMistakes adds instead that there are more.
void refuse(Errors& errors, const std::string& message, const std::string& pointer);

// Adds a mistake where the object at `at` lacks the key.
void need(const nlohmann::json& object, std::string_view key, const std::string& what, Errors& errors,
          const std::string& at = "");
// Adds a mistake for each key of the object at `at` that is not in `known`.
void refuse_unknown(const nlohmann::json& object, std::initializer_list<std::string_view> known,
                    Errors& errors, const std::string& at = "");

// A whole number from `least` that an int64 holds; nothing for anything else.
std::optional<std::int64_t> whole_number(const nlohmann::json& value, std::int64_t least);

}  // namespace podium
