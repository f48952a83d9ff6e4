// YAML text to JSON with a place for every value. One document, plain data only: no custom tags, no repeated
// keys, and limits on size, depth and what aliases may expand to, so that no input can cost more than it
// weighs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/spec/problems.h"
#include "common/spec/source_map.h"

namespace podium {

constexpr int kMaxYamlDepth = 32;
constexpr std::size_t kMaxYamlValues =
    20'000;  // keys among them; once as written, once with aliases expanded
// Counted after aliases are expanded, each value as its text and 16 bytes more: only aliases can reach it.
constexpr std::size_t kMaxExpandedBytes = 4 * 1024 * 1024;
constexpr std::size_t kMaxYamlScalarBytes = 4'096;  // also keeps std::regex, which recurses, within its stack

// Notes where every value stands in `places` and what is wrong in `problems`. Nothing when there is no
// document to go on with; otherwise a value that cannot be had is null.
std::optional<nlohmann::json> read_yaml(std::string_view text, SourceMap& places, Problems& problems);

}  // namespace podium
