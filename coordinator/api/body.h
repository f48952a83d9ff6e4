// The JSON body of a request that an operator or a tool wrote. What is wrong with it is told at once, each
// mistake with its JSON pointer (RFC 6901); of a body that is nothing but mistakes the first of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

inline constexpr std::size_t kMostMistakes =
    20;  // of one body; who asks is not to make an answer of any size

// One JSON object (RFC 8259) in which no key is given twice and little is nested deep. In time and memory
// that grow with the text alone.
Result<nlohmann::json> parse_object(std::string_view text);

// What is wrong with the value at `pointer`.
Error malformed(const std::string& message, const std::string& pointer);
// It has that many, and says that there are more.
bool is_full(const Errors& errors);
// Adds it; once there are kMostMistakes, only that there are more.
void refuse(Errors& errors, const std::string& message, const std::string& pointer);

// A key that the object at `at` must have and does not.
void need(const nlohmann::json& object, std::string_view key, const std::string& what, Errors& errors,
          const std::string& at = "");
// Keys of the object at `at` that are none of `known`.
void refuse_unknown(const nlohmann::json& object, std::initializer_list<std::string_view> known,
                    Errors& errors, const std::string& at = "");

// A whole number from `least` that an int64 holds; nothing for anything else.
std::optional<std::int64_t> whole_number(const nlohmann::json& value, std::int64_t least);

}  // namespace podium
