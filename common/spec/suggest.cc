#include "common/spec/suggest.h"

#include <algorithm>

namespace podium {
namespace {

constexpr std::size_t kLongestWord = 64;  // nobody misspells more, and the table below is quadratic

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> rows(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = static_cast<int>(i + j);
        continue;
      }
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      int best = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) best = std::min(best, rows[i - 2][j - 2] + 1);
      rows[i][j] = best;
    }
  }
  return rows[a.size()][b.size()];
}

std::optional<std::string> closest(std::string_view word, const std::vector<Suggestion>& candidates) {
  if (word.size() > kLongestWord) return std::nullopt;
  const Suggestion* nearest = nullptr;
  int smallest = (static_cast<int>(word.size()) + 2) / 3 + 1;
  for (const Suggestion& candidate : candidates) {
    const int distance = edit_distance(word, candidate.first);
    if (distance >= smallest || distance >= static_cast<int>(candidate.first.size())) continue;
    smallest = distance;
    nearest = &candidate;
  }
  return nearest ? std::optional(nearest->second) : std::nullopt;
}

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<Suggestion> pairs;
  for (const std::string& candidate : candidates) pairs.emplace_back(candidate, candidate);
  return closest(word, pairs);
}

}  // namespace podium
