// The search for the first bad one of a line of commits, of which trainings tell good from bad. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace podium::cli {

enum class Verdict {
  untried,
  good,
  bad,
  skipped,  // cannot be tried, or told nothing
};

struct BisectionStep {
  std::optional<std::size_t> next;       // to be tried
  std::optional<std::size_t> first_bad;  // found
  std::vector<std::size_t> suspects;  // where neither: the first bad one is among these, and cannot be told
  std::size_t left = 0;               // that may still be the first bad one
};

// `commits`: after the good one, oldest first; the last one is the bad one. Where a bad one comes before a
// good one, what lies before the oldest bad one counts.
BisectionStep next_step(const std::vector<Verdict>& commits);

// Whether a value is bad: nearer to that of the bad end than to that of the good one.
bool is_bad(double value, double good, double bad);

}  // namespace podium::cli
