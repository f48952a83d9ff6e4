// Counts of values up to each of some bounds, as Prometheus defines histograms.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace podium {

struct Histogram {
  explicit Histogram(std::vector<double> upper_bounds)
      : bounds(std::move(upper_bounds)), up_to(bounds.size(), 0) {}

  std::vector<double> bounds;
  std::vector<std::uint64_t> up_to;  // cumulative
  std::uint64_t count = 0;
  double sum = 0;

  void add(double value) {
    for (std::size_t i = 0; i < bounds.size(); ++i)
      if (value <= bounds[i]) ++up_to[i];
    ++count;
    sum += value;
  }
};

}  // namespace podium
