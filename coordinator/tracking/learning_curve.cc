#include "coordinator/tracking/learning_curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace podium {
namespace {

constexpr std::size_t kFewestToFit = 4;
constexpr double kHuber = 1.345;  // standard deviations; 95 % efficient where errors are normal

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double interpolate(const Curve& curve, double x) {
  const auto after = std::ranges::lower_bound(curve, x, {}, &CurvePoint::x);
  if (after == curve.begin()) return curve.front().y;
  if (after == curve.end()) return curve.back().y;
  const CurvePoint& before = *(after - 1);
  return before.y + (after->y - before.y) * (x - before.x) / (after->x - before.x);
}

double shape(const CurveLaw& law, double x) {
  switch (law.kind) {
    case LawKind::power:
      return std::pow(x + law.c, -law.d);
    case LawKind::weibull:
      return std::exp(-std::pow(x / law.c, law.d));
    case LawKind::hill:
      return 1 / (1 + std::pow(x / law.c, law.d));
    case LawKind::logarithm:
      return -std::log(x + law.c);
    case LawKind::earlier:
      return interpolate(*law.earlier, x * law.c);
  }
  return 0;
}

// The parameters that are searched by trial; a and b follow from them.
struct Grid {
  double c_from, c_to;
  int c_count;
  double d_from, d_to;
  int d_count;
};

Grid grid_of(LawKind kind) {
  switch (kind) {
    case LawKind::power:
      return {1e-3, 1, 6, 0.1, 2.5, 8};
    case LawKind::weibull:
      return {0.03, 10, 9, 0.3, 2.5, 6};
    case LawKind::hill:
      return {0.03, 10, 9, 0.7, 6, 6};
    case LawKind::logarithm:
      return {1e-3, 1, 8, 1, 1, 1};
    case LawKind::earlier:
      return {0.2, 5, 17, 1, 1, 1};
  }
  return {1, 1, 1, 1, 1, 1};
}

double at_of(double from, double to, int count, int index) {
  return count == 1 ? from : from * std::pow(to / from, static_cast<double>(index) / (count - 1));
}

struct Weighted {
  double loss = std::numeric_limits<double>::infinity();
  CurveLaw law;
};

class Fitter {
 public:
  Fitter(std::span<const CurvePoint> points, const FitOptions& options)
      : points_(points), options_(options), g_(points.size()), weights_(points.size()) {}

  // The best a and b for the law's c and d: least squares, with new weights until large errors count
  // linearly.
  Weighted solve(CurveLaw law) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      g_[i] = shape(law, points_[i].x);
      weights_[i] = importance(points_[i]);
    }
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      if (!solve_linear(law)) return {};
      if (round + 1 == kRounds) break;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        const double error = std::abs(points_[i].y - law.a - law.b * g_[i]) / options_.noise;
        weights_[i] = importance(points_[i]) * (error <= kHuber ? 1 : kHuber / error);
      }
    }
    return {loss(law), law};
  }

  // Halves the steps wherever no neighbour is better.
  Weighted refine(Weighted best, int rounds) {
    double factor = 1.5;
    const bool has_d = best.law.kind != LawKind::logarithm && best.law.kind != LawKind::earlier;
    for (int round = 0; round < rounds; ++round) {
      const Weighted before = best;
      for (const double by : {factor, 1 / factor}) {
        CurveLaw other = before.law;
        other.c *= by;
        keep_better(best, solve(other));
        if (!has_d) continue;
        other = before.law;
        other.d *= std::sqrt(by);
        keep_better(best, solve(other));
      }
      if (best.loss >= before.loss) factor = std::sqrt(factor);
    }
    return best;
  }

  static void keep_better(Weighted& best, const Weighted& other) {
    if (other.loss < best.loss) best = other;
  }

 private:
  // Later points weigh more: what comes next depends most on what came last.
  static double importance(const CurvePoint& point) { return 0.1 + point.x; }

  bool solve_linear(CurveLaw& law) const {
    double w = 0, wg = 0, wgg = 0, wy = 0, wgy = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double weight = weights_[i], y = points_[i].y;
      w += weight;
      wg += weight * g_[i];
      wgg += weight * g_[i] * g_[i];
      wy += weight * y;
      wgy += weight * g_[i] * y;
    }
    const double spread = wgg - wg * wg / w;
    if (!(spread > 1e-12 * wgg)) return false;
    law.b = (wgy - wg * wy / w) / spread;
    law.a = (wy - law.b * wg) / w;
    if (law.a < options_.least && law.kind != LawKind::logarithm) {
      law.a = options_.least;
      law.b = (wgy - law.a * wg) / wgg;
    }
    return law.b > 0 && std::isfinite(law.a);
  }

  double loss(const CurveLaw& law) const {
    double sum = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double error = std::abs(points_[i].y - law.a - law.b * g_[i]) / options_.noise;
      const double huber = error <= kHuber ? error * error / 2 : kHuber * (error - kHuber / 2);
      sum += importance(points_[i]) * huber;
    }
    return sum;
  }

  std::span<const CurvePoint> points_;
  const FitOptions& options_;
  std::vector<double> g_, weights_;
};

}  // namespace

Curve condense(std::span<const CurvePoint> curve, std::size_t most) {
  if (curve.size() <= most) return {curve.begin(), curve.end()};
  Curve condensed;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t from = i * curve.size() / most, to = (i + 1) * curve.size() / most;
    std::vector<double> values;
    for (std::size_t j = from; j < to; ++j) values.push_back(curve[j].y);
    condensed.push_back({curve[from + (to - from) / 2].x, median(std::move(values))});
  }
  return condensed;
}

double noise_of(std::span<const CurvePoint> curve) {
  if (curve.size() < 3) return 1;
  // The distance of a point from the middle between its neighbours. A slope leaves it at 0, and its variance
  // is 3/2 of a point's.
  std::vector<double> errors;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i)
    errors.push_back(std::abs(curve[i].y - (curve[i - 1].y + curve[i + 1].y) / 2));
  const auto [low, high] = std::ranges::minmax(curve, {}, &CurvePoint::y);
  const double least = std::max(1e-6 * (high.y - low.y), 1e-12);
  return std::max(median(std::move(errors)) / 0.6745 / std::sqrt(1.5), least);
}

double CurveLaw::at(double x) const { return a + b * shape(*this, x); }

bool CurveLaw::knows(double x) const { return kind != LawKind::earlier || x * c <= earlier->back().x; }

std::optional<CurveLaw> fit(LawKind kind, std::span<const CurvePoint> points, const FitOptions& options,
                            const Curve* earlier) {
  if (points.size() < kFewestToFit) return std::nullopt;
  Fitter fitter(points, options);
  Weighted best;
  const Grid grid = grid_of(kind);
  for (int i = 0; i < grid.c_count; ++i)
    for (int j = 0; j < grid.d_count; ++j) {
      CurveLaw law{.kind = kind,
                   .c = at_of(grid.c_from, grid.c_to, grid.c_count, i),
                   .d = at_of(grid.d_from, grid.d_to, grid.d_count, j),
                   .earlier = earlier};
      Fitter::keep_better(best, fitter.solve(law));
    }
  if (!std::isfinite(best.loss)) return std::nullopt;
  return fitter.refine(best, 8).law;
}

CurveLaw fit_near(const CurveLaw& law, std::span<const CurvePoint> points, const FitOptions& options) {
  Fitter fitter(points, options);
  Weighted best = fitter.solve(law);
  if (!std::isfinite(best.loss)) return law;
  return fitter.refine(best, 5).law;
}

}  // namespace podium
