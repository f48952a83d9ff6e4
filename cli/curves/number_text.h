// Numbers as the text formats write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podium::cli {

// The shortest text that reads back as the same value; NaN, Infinity and -Infinity by name.
std::string value_text(double value);

// Those, and as other programs write them: "nan", "inf", "+1e3".
std::optional<double> value_of(std::string_view text);

std::optional<std::int64_t> integer_of(std::string_view text);

// Milliseconds since 1970, of seconds ("1700000000.25"), of milliseconds, which are beyond what seconds
// reach ("1700000000250"), or of a date ("2026-03-01T12:00:00.250Z", "2026-03-01 12:00:00"; UTC).
std::optional<std::int64_t> time_of(std::string_view text);

}  // namespace podium::cli
