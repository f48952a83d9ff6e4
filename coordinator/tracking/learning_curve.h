// Laws by which a metric falls with training steps, and their robust fit: a + b·g(x), where x is the steps as
// a fraction of those trained so far, and less is better. Pure: equal points give equal fits. The laws are
// those of Domhan, Springenberg and Hutter, "Speeding up automatic hyperparameter optimization of deep neural
// networks by extrapolation of learning curves" (IJCAI 2015), table 1, of which four suffice; and a curve of
// before, stretched.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace podium {

struct CurvePoint {
  double x = 0;  // more than 0
  double y = 0;
};
using Curve = std::vector<CurvePoint>;  // by x

// At most `most` points, each the median of an equal number of the curve's points, so that a spike has no
// effect.
Curve condense(std::span<const CurvePoint> curve, std::size_t most);

// The noise of a point, estimated from its neighbours; at least a millionth of the curve's range.
double noise_of(std::span<const CurvePoint> curve);

enum class LawKind {
  power,      // (x + c)^-d
  weibull,    // exp(-(x / c)^d)
  hill,       // 1 / (1 + (x / c)^d)
  logarithm,  // -ln(x + c)
  earlier     // another curve at x·c
};

struct CurveLaw {
  LawKind kind = LawKind::power;
  double c = 1, d = 1;
  double a = 0, b = 0;             // b at least 0
  const Curve* earlier = nullptr;  // of LawKind::earlier; outlives the law

  double at(double x) const;
  bool knows(double x) const;  // an earlier curve ends somewhere
};

struct FitOptions {
  double noise = 1;  // of a point; errors beyond it count linearly (Huber)
  double least = -std::numeric_limits<double>::infinity();  // no curve falls below it
};

// Null where no law of that kind falls along the points.
std::optional<CurveLaw> fit(LawKind kind, std::span<const CurvePoint> points, const FitOptions& options,
                            const Curve* earlier = nullptr);

// Fits from the parameters of a law that fits similar points.
CurveLaw fit_near(const CurveLaw& law, std::span<const CurvePoint> points, const FitOptions& options);

}  // namespace podium
