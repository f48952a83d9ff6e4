// How well predicted values follow given ones. 0 where either are all the same, or one is not finite.
#pragma once

#include <span>
#include <vector>

namespace podium {

// Pearson's correlation coefficient.
double pearson_correlation(std::span<const double> a, std::span<const double> b);

// Spearman's: Pearson's of the ranks.
double spearman_correlation(std::span<const double> a, std::span<const double> b);

// From 1 in ascending order; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values);

}  // namespace podium
