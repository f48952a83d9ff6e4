// One measured figure, and its line of JSON: bench/run makes the table of them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace podium {

struct Figure {
  std::string name;  // "metric ingest"
  double value = 0;
  std::string unit;  // "points/s"
  std::string peer;  // what it is held against; "" when there is only a goal
  double peer_value = 0;
  bool higher_is_better = true;
  std::optional<double> goal;  // the figure to reach
};

void print(const Figure& figure);

// Of a process, in bytes.
double resident_bytes(int pid);

inline double quantile(std::vector<double> values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace podium
