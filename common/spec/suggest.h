// "Did you mean …?" for keys and names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

// The number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the
// other; case does not count.
int edit_distance(std::string_view a, std::string_view b);

// Something people write, and what they should write.
using Suggestion = std::pair<std::string, std::string>;

// The second of the pair whose first is nearest to `word`; nothing where none is near enough.
std::optional<std::string> closest(std::string_view word, const std::vector<Suggestion>& candidates);
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace podium
