#include "worker/tasks/classify/correlations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace podium {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

double pearson_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || !all_finite(a) || !all_finite(b)) return 0;
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double both = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double from_a = a[i] - mean_a, from_b = b[i] - mean_b;
    both += from_a * from_b;
    squares_a += from_a * from_a;
    squares_b += from_b * from_b;
  }
  const double spread = std::sqrt(squares_a) * std::sqrt(squares_b);
  return spread > 0 ? both / spread : 0;
}

double spearman_correlation(std::span<const double> a, std::span<const double> b) {
  if (!all_finite(a) || !all_finite(b)) return 0;
  return pearson_correlation(ranks_of(a), ranks_of(b));
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

}  // namespace podium
