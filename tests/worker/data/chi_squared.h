// Pearson's chi-squared test: how likely counts are that deviate as much as those seen, if the expected ones
// are right. Draws come from fixed seeds, so a test that uses it passes always or never.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace podium {

// Q(a, x), the regularised upper incomplete gamma function, for a > 0 and x >= 0: its series below a + 1, its
// continued fraction (Lentz) above.
inline double upper_gamma(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (double n = a + 1; term > sum * 1e-15; ++n) sum += term *= x / n;
    return 1 - front * sum;
  }
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double fraction = d;
  for (double n = 1; n < 100'000; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return front * fraction;
}

inline double chi_squared_p(double statistic, double degrees) {
  return upper_gamma(degrees / 2, statistic / 2);
}

// Of independent draws that fell into categories `counts` times; `shares` sum up to 1.
inline double chi_squared_p(const std::vector<double>& counts, const std::vector<double>& shares) {
  double draws = 0;
  for (const double count : counts) draws += count;
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * shares[i];
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return chi_squared_p(statistic, static_cast<double>(counts.size() - 1));
}

inline double chi_squared_p(const std::vector<double>& counts) {
  return chi_squared_p(counts, std::vector<double>(counts.size(), 1 / static_cast<double>(counts.size())));
}

// Of `rounds` times `chosen` of the categories without replacement, each category equally likely. A count has
// the variance rounds p (1 - p) with p = chosen / categories, and all sum up to a constant.
inline double chi_squared_p_without_replacement(const std::vector<double>& counts, double rounds,
                                                double chosen) {
  const auto categories = static_cast<double>(counts.size());
  const double p = chosen / categories;
  double statistic = 0;
  for (const double count : counts) statistic += (count - rounds * p) * (count - rounds * p);
  return chi_squared_p(statistic / (rounds * p * (1 - p)) * (categories - 1) / categories, categories - 1);
}

}  // namespace podium
