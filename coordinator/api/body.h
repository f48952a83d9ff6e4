// The JSON body of a request that an operator or a tool wrote. What is wrong with it is told all at once,
// each problem with its JSON pointer (RFC 6901).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace podium {

// One JSON object (RFC 8259) in which no key is given twice.
Result<nlohmann::json> parse_object(std::string_view text);

// "the operation is …" at "/operation": what is wrong with one value of a body.
Error malformed(const std::string& message, const std::string& where);
// A key that the body must have and does not.
void need(const nlohmann::json& body, std::string_view key, const std::string& what, Errors& errors);
// A key that is none of `known`.
void refuse_unknown(const nlohmann::json& body, std::initializer_list<std::string_view> known,
                    Errors& errors);

// A whole number from `least` that an int64 holds; nothing for anything else.
std::optional<std::int64_t> whole_number(const nlohmann::json& value, std::int64_t least);

}  // namespace podium
