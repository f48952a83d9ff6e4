// Converts YAML text to JSON with a place for every value. It accepts one document of plain data: no custom
// tags, no repeated keys, and limits on size, depth and the expansion of aliases, so that the cost is bounded
// by the size of the input.
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

// Records the place of every value in `places` and all problems in `problems`. Nothing where there is no
// usable document; otherwise an unreadable value is null.
std::optional<nlohmann::json> read_yaml(std::string_view text, SourceMap& places, Problems& problems);

}  // namespace podium
