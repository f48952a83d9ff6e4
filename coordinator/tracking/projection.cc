#include "coordinator/tracking/projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <tuple>

#include "coordinator/tracking/learning_curve.h"

namespace podium {
namespace {

constexpr std::size_t kFewestToProject = 6;
constexpr std::size_t kMostPoints = 64;  // that a law is fitted to
constexpr std::size_t kMostOfEarlier = 512;
constexpr int kDraws = 200;
constexpr int kFanPoints = 24;
constexpr int kMostEvaluations = 1000;  // that a draw looks at
constexpr double kHorizon = 20;         // times the steps so far, where nobody knows how many will be taken
constexpr std::array kPrefixes = {0.5, 0.6, 0.7, 0.8};
constexpr double kTrustInEarlier = 8;  // an earlier job's curve, beside a law that was as little wrong
constexpr double kUnlikely = 0.1;

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() {  // Box and Muller 1958
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[next() % values.size()];
  }

 private:
  std::uint64_t state_ = 0;
};

double nearest_quantile(std::vector<double>& values, double fraction) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, at);
  return *at;
}

// A law, and what is known of its errors.
struct Candidate {
  CurveLaw law;
  std::vector<double> drifts;  // of a metric from what was foretold, by ln(x / where it was foretold)
  double weight = 0;
};

class Projector {
 public:
  explicit Projector(const ProjectionInput& input)
      : input_(input), sign_(input.at_least ? -1 : 1), target_(sign_ * input.target) {}

  Projection run() {
    Projection result;
    read_curve();
    read_pace();
    if (!paces_.empty() && input_.steps > now_)
      result.ends = after(median_pace() * static_cast<double>(input_.steps - now_));
    result.doubt = doubt_of_curve();
    if (!result.doubt.empty()) return result;
    find_candidates();
    if (candidates_.empty()) {
      result.doubt = "its curve shows no progress yet";
      return result;
    }
    draw(result);
    if (result.reaches < kUnlikely) result.doubt = doubt_of_end(result.fan.back());
    return result;
  }

 private:
  void read_curve() {
    for (const SeriesPoint& point : input_.curve) {
      if (!std::isfinite(point.value) || point.step <= 0) continue;
      kept_.push_back(point);
    }
    if (kept_.empty()) return;
    now_ = kept_.back().step;
    for (const SeriesPoint& point : kept_) curve_.push_back({x_of(point.step), sign_ * point.value});
    points_ = condense(curve_, kMostPoints);
    for (const Series& series : input_.earlier) {
      Curve earlier;
      for (const SeriesPoint& point : series)
        if (std::isfinite(point.value) && point.step > 0)
          earlier.push_back({x_of(point.step), sign_ * point.value});
      if (earlier.size() >= kFewestToProject) earlier_.push_back(condense(earlier, kMostOfEarlier));
    }
  }

  double x_of(std::int64_t step) const { return static_cast<double>(step) / static_cast<double>(now_); }

  // Seconds for each step between neighbouring points of the later half; they include evaluations and
  // checkpoints.
  void read_pace() {
    for (std::size_t i = kept_.size() / 2 + 1; i < kept_.size(); ++i) {
      const std::int64_t steps = kept_[i].step - kept_[i - 1].step;
      const double seconds = std::chrono::duration<double>(kept_[i].time - kept_[i - 1].time).count();
      if (steps > 0 && seconds > 0) paces_.push_back(seconds / static_cast<double>(steps));
    }
  }

  double median_pace() const {
    std::vector<double> paces = paces_;
    return nearest_quantile(paces, 0.5);
  }

  Time after(double seconds) const { return kept_.back().time + Duration(std::llround(1000 * seconds)); }

  std::string doubt_of_curve() const {
    if (curve_.size() >= kFewestToProject) return "";
    return fmt::format("its curve has {} points; {} are needed", curve_.size(), kFewestToProject);
  }

  std::string doubt_of_end(const FanPoint& end) const {
    return fmt::format("by its curve it does not reach {:.4g}: at step {} it has {:.4g} ({:.4g} to {:.4g})",
                       input_.target, end.step, end.p50, end.p10, end.p90);
  }

  FitOptions options_for(std::span<const CurvePoint> points) const {
    FitOptions options{.noise = noise_of(points)};
    // A loss stays above 0 and a fraction below 1.
    const auto positive = [](const CurvePoint& p) { return p.y > 0; };
    const auto is_fraction = [](const CurvePoint& p) { return p.y <= 0 && p.y >= -1; };
    if (std::ranges::all_of(points, positive)) options.least = 0;
    if (std::ranges::all_of(points, is_fraction) && target_ >= -1) options.least = -1;
    return options;
  }

  void find_candidates() {
    for (const LawKind kind : {LawKind::power, LawKind::weibull, LawKind::hill, LawKind::logarithm})
      consider(kind, nullptr);
    for (const Curve& earlier : earlier_) consider(LawKind::earlier, &earlier);
    if (candidates_.empty()) return;
    const double best = std::ranges::min_element(candidates_, {}, &Candidate::weight)->weight;
    for (Candidate& candidate : candidates_) {
      candidate.weight = std::pow(best / candidate.weight, 2);
      if (candidate.law.kind == LawKind::earlier) candidate.weight *= kTrustInEarlier;
    }
  }

  // Holds its error as its weight until the weights are computed.
  void consider(LawKind kind, const Curve* earlier) {
    const FitOptions options = options_for(points_);
    const std::optional<CurveLaw> law = fit(kind, points_, options, earlier);
    if (!law) return;
    Candidate candidate{.law = *law, .drifts = {}, .weight = 0};
    double errors = 0;
    int counted = 0;
    for (const double fraction : kPrefixes) {
      const auto end = std::ranges::upper_bound(points_, fraction, {}, &CurvePoint::x);
      const std::span<const CurvePoint> prefix(points_.begin(), end);
      const std::optional<CurveLaw> before = fit(kind, prefix, options_for(prefix), earlier);
      if (!before) continue;
      std::vector<double> drifts, misses;
      for (auto point = end; point != points_.end(); ++point) {
        const double ahead = std::log(point->x / prefix.back().x);
        if (point->x < (1 + prefix.back().x) / 2) continue;
        drifts.push_back((point->y - before->at(point->x)) / ahead);
        misses.push_back(std::abs(point->y - before->at(point->x)));
      }
      if (drifts.empty()) continue;
      candidate.drifts.push_back(nearest_quantile(drifts, 0.5));
      errors += nearest_quantile(misses, 0.5);
      ++counted;
    }
    if (counted == 0) {
      candidate.drifts.push_back(0);
      errors = 10 * options.noise;
      counted = 1;
    }
    candidate.weight = errors / counted + options.noise;
    candidates_.push_back(std::move(candidate));
  }

  // How far laws that describe the curve so far are off from what comes.
  double drift_spread() const {
    std::vector<double> sizes;
    for (const Candidate& candidate : candidates_)
      for (const double drift : candidate.drifts) sizes.push_back(std::abs(drift));
    return nearest_quantile(sizes, 0.5);
  }

  const Candidate& pick_candidate() {
    double sum = 0;
    for (const Candidate& candidate : candidates_) sum += candidate.weight;
    double left = random_.unit() * sum;
    for (const Candidate& candidate : candidates_) {
      left -= candidate.weight;
      if (left <= 0) return candidate;
    }
    return candidates_.back();
  }

  // Fits the law again to the curve with its residuals shuffled.
  CurveLaw redraw(const CurveLaw& law) {
    std::vector<double> residuals;
    for (const CurvePoint& point : points_) residuals.push_back(point.y - law.at(point.x));
    Curve drawn = points_;
    for (CurvePoint& point : drawn) point.y = law.at(point.x) + random_.pick(residuals);
    return fit_near(law, drawn, options_for(points_));
  }

  void draw(Projection& result) {
    const double end = input_.steps > now_ ? x_of(input_.steps) : input_.steps > 0 ? 1 : kHorizon;
    std::vector<double> spacings;
    for (std::size_t i = curve_.size() / 2 + 1; i < curve_.size(); ++i)
      spacings.push_back(curve_[i].x - curve_[i - 1].x);
    const double spacing = std::max(nearest_quantile(spacings, 0.5), (end - 1) / kMostEvaluations);
    const double spread = drift_spread();
    const double never = std::numeric_limits<double>::infinity();
    std::vector<double> steps, seconds;
    std::vector<std::vector<double>> fan(kFanPoints);
    int reached = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Candidate& candidate = pick_candidate();
      const CurveLaw law = redraw(candidate.law);
      std::vector<double> residuals;
      for (const CurvePoint& point : curve_)
        if (point.x > 0.5) residuals.push_back(point.y - candidate.law.at(point.x));
      const double offset = nearest_quantile(residuals, 0.5);
      for (double& residual : residuals) residual -= offset;
      const double drift = random_.pick(candidate.drifts) * 1.5 * random_.unit() + spread * random_.normal();
      const auto level = [&](double x) { return law.at(x) + drift * std::log(x); };
      double hit = never;
      for (double x = 1 + spacing; x <= end * (1 + 1e-9) && law.knows(x); x += spacing) {
        if (level(x) + random_.pick(residuals) > target_) continue;
        hit = x * static_cast<double>(now_);
        break;
      }
      for (int j = 0; j < kFanPoints; ++j) fan[static_cast<std::size_t>(j)].push_back(level(fan_x(j, end)));
      reached += hit < never ? 1 : 0;
      steps.push_back(hit);
      if (!paces_.empty()) {
        double pace = 0;
        constexpr int kMixed = 8;
        for (int j = 0; j < kMixed; ++j) pace += random_.pick(paces_) / kMixed;
        seconds.push_back((hit - static_cast<double>(now_)) * pace);
      }
    }
    result.reaches = static_cast<double>(reached) / kDraws;
    fill_fan(result, fan, end);
    for (const auto& [fraction, step, time] : {std::tuple(0.1, &result.step.p10, &result.time.p10),
                                               std::tuple(0.5, &result.step.p50, &result.time.p50),
                                               std::tuple(0.9, &result.step.p90, &result.time.p90)}) {
      if (const double value = nearest_quantile(steps, fraction); value < never) *step = std::llround(value);
      if (seconds.empty()) continue;
      if (const double value = nearest_quantile(seconds, fraction); value < never) *time = after(value);
    }
  }

  double fan_x(int index, double end) const { return 1 + (end - 1) * index / (kFanPoints - 1); }

  void fill_fan(Projection& result, std::vector<std::vector<double>>& fan, double end) const {
    for (int j = 0; j < kFanPoints; ++j) {
      std::vector<double>& values = fan[static_cast<std::size_t>(j)];
      FanPoint point{.step = std::llround(fan_x(j, end) * static_cast<double>(now_)),
                     .p10 = sign_ * nearest_quantile(values, 0.1),
                     .p50 = sign_ * nearest_quantile(values, 0.5),
                     .p90 = sign_ * nearest_quantile(values, 0.9)};
      if (sign_ < 0) std::swap(point.p10, point.p90);
      result.fan.push_back(point);
    }
  }

  const ProjectionInput& input_;
  const double sign_, target_;
  Series kept_;
  std::int64_t now_ = 0;
  Curve curve_, points_;
  std::vector<Curve> earlier_;
  std::vector<double> paces_;
  std::vector<Candidate> candidates_;
  Random random_;
};

}  // namespace

Projection project(const ProjectionInput& input) { return Projector(input).run(); }

}  // namespace podium
