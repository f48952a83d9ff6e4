// Numbers and times as people read them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/human_bytes.h"

namespace podium::cli {

std::string human_count(std::int64_t number);          // 1234567 -> "1,234,567"
std::string human_value(double value);                 // four significant digits: 0.2134, 312.4, 1.5e-05
std::string human_value(const nlohmann::json& value);  // also "NaN" and null ("–")
std::string human_seconds(double seconds);             // two units at most: "45s", "3m12s", "2h05m", "4d3h"
using podium::human_bytes;

std::string in_words(std::string code);  // of the API: "node_lost" -> "node lost"

// "3m12s ago"; "–" when `millis` is null.
std::string human_ago(const nlohmann::json& millis, std::int64_t now);

std::int64_t now_millis();

}  // namespace podium::cli
