// The benchmarks of a real cluster on this machine. Each measures Podium beside the limit it works against,
// both in the same run, and gives one record a figure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
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

std::vector<Figure> measure_ingest();
std::vector<Figure> measure_submissions();
std::vector<Figure> measure_launch_latency();
std::vector<Figure> measure_memory();

inline double quantile(std::vector<double> values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace podium
