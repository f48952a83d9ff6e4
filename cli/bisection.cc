#include "cli/bisection.h"

#include <algorithm>
#include <cmath>

namespace podium::cli {

BisectionStep next_step(const std::vector<Verdict>& commits) {
  const auto bad = std::ranges::find(commits, Verdict::bad);
  const std::size_t high =
      bad == commits.end() ? commits.size() - 1 : static_cast<std::size_t>(bad - commits.begin());
  std::size_t low = 0;  // the first that may be bad
  for (std::size_t i = 0; i < high; ++i)
    if (commits[i] == Verdict::good) low = i + 1;
  BisectionStep step;
  step.left = high - low + 1;
  if (low == high) {
    step.first_bad = high;
    return step;
  }
  // The last of a half is tried: what it tells halves what is left.
  const std::size_t middle = low + (high - low - 1) / 2;
  const auto distance = [middle](std::size_t i) { return i > middle ? i - middle : middle - i; };
  for (std::size_t i = low; i < high; ++i)
    if (commits[i] == Verdict::untried && (!step.next || distance(i) < distance(*step.next))) step.next = i;
  if (!step.next)
    for (std::size_t i = low; i <= high; ++i) step.suspects.push_back(i);
  return step;
}

bool is_bad(double value, double good, double bad) {
  return std::isnan(value) || std::abs(value - bad) < std::abs(value - good);
}

}  // namespace podium::cli
