#include "bench/projection/curves.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "coordinator/tracking/projection.h"

namespace podium {
namespace {

using Engine = std::mt19937_64;

double uniform(Engine& engine, double from, double to) {
  return std::uniform_real_distribution(from, to)(engine);
}
double log_uniform(Engine& engine, double from, double to) {
  return std::exp(uniform(engine, std::log(from), std::log(to)));
}

// Of x from 0 to 1, from about 1 down to about 0.
using Fall = std::function<double(double)>;

Fall two_powers(Engine& engine) {
  const double c = log_uniform(engine, 0.005, 0.2), d = uniform(engine, 0.2, 1), e = uniform(engine, 1, 2);
  const double part = uniform(engine, 0.2, 0.8);
  return [=](double x) { return part * std::pow(1 + x / c, -d) + (1 - part) * std::pow(1 + x / c, -e); };
}

Fall two_exponentials(Engine& engine) {
  const double fast = log_uniform(engine, 0.02, 0.1), slow = log_uniform(engine, 0.2, 1);
  const double part = uniform(engine, 0.3, 0.8);
  return [=](double x) { return part * std::exp(-x / fast) + (1 - part) * std::exp(-x / slow); };
}

// Slow at first, as the accuracy of masked words is.
Fall late(Engine& engine) {
  const double c = log_uniform(engine, 0.05, 0.4), d = uniform(engine, 1.5, 4),
               tail = uniform(engine, 0, 0.3);
  return [=](double x) { return (1 - tail) / (1 + std::pow(x / c, d)) + tail * std::exp(-x); };
}

// The learning rate falls linearly to zero: the noise of the steps goes with it.
Fall decayed(Engine& engine) {
  const double c = log_uniform(engine, 0.01, 0.2), d = uniform(engine, 0.3, 1.2),
               gain = uniform(engine, 0.02, 0.12);
  return [=](double x) { return std::pow(1 + x / c, -d) - gain * x * x; };
}

// The learning rate falls to a tenth at two places.
Fall stepped(Engine& engine) {
  const double c = log_uniform(engine, 0.01, 0.1), d = uniform(engine, 0.3, 0.8),
               drop = uniform(engine, 0.01, 0.05);
  const double first = uniform(engine, 0.3, 0.5), second = uniform(engine, 0.6, 0.8);
  const auto since = [](double x, double from) { return x < from ? 0 : 1 - std::exp(-(x - from) / 0.03); };
  return [=](double x) {
    return std::pow(1 + x / c, -d) - drop * since(x, first) - drop / 2 * since(x, second);
  };
}

struct Family {
  const char* name;
  Fall (*make)(Engine&);
};
constexpr Family kFamilies[] = {{"two powers", two_powers},
                                {"two exponentials", two_exponentials},
                                {"late", late},
                                {"decayed", decayed},
                                {"stepped", stepped}};

bool meets(const KnownCurve& curve, double value) {
  return curve.at_least ? value >= curve.target : value <= curve.target;
}

std::optional<std::size_t> first_met(const KnownCurve& curve) {
  const auto met = [&](const SeriesPoint& point) { return meets(curve, point.value); };
  const auto at = std::ranges::find_if(curve.series, met);
  if (at == curve.series.end()) return std::nullopt;
  return static_cast<std::size_t>(at - curve.series.begin());
}

KnownCurve synthetic(const Family& family, Engine& engine) {
  const Fall fall = family.make(engine);
  KnownCurve curve{.family = family.name, .series = {}, .target = 0, .at_least = engine() % 2 == 0};
  const int evaluations = static_cast<int>(log_uniform(engine, 30, 400));
  const std::int64_t every = static_cast<std::int64_t>(log_uniform(engine, 10, 500));
  const double noise = log_uniform(engine, 0.002, 0.03), pace = log_uniform(engine, 20, 2000);
  const double top = curve.at_least ? uniform(engine, 0.4, 0.9) : uniform(engine, 4, 10);
  const double floor = curve.at_least ? 0 : uniform(engine, 1, 3);
  std::normal_distribution<double> normal;
  double ms = 0;
  for (int i = 1; i <= evaluations; ++i) {
    const double x = static_cast<double>(i) / evaluations;
    double level = fall(x) + noise * normal(engine);
    if (engine() % 200 == 0) level += uniform(engine, 0.05, 0.5);  // a spike
    const double value = curve.at_least ? top * (1 - level) : floor + (top - floor) * level;
    ms += pace * static_cast<double>(every) * std::exp(0.1 * normal(engine));
    curve.series.push_back({i * every, from_millis(static_cast<std::int64_t>(ms)), value});
  }
  const double level = fall(uniform(engine, 0.4, 1));
  curve.target = curve.at_least ? top * (1 - level) : floor + (top - floor) * level;
  return curve;
}

}  // namespace

std::vector<KnownCurve> synthetic_curves(int count, unsigned seed) {
  Engine engine(seed);
  std::vector<KnownCurve> curves;
  while (curves.size() < static_cast<std::size_t>(count)) {
    KnownCurve curve = synthetic(kFamilies[curves.size() % std::size(kFamilies)], engine);
    if (first_met(curve)) curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<KnownCurve> mlperf_curves(const std::filesystem::path& folder) {
  std::vector<KnownCurve> curves;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream lines(file.path());
    KnownCurve curve{.family = "mlperf", .series = {}, .target = 0, .at_least = true};
    constexpr std::string_view kMark = ":::MLLOG ";
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(kMark);
      if (at == std::string::npos) continue;
      const auto entry = nlohmann::json::parse(line.substr(at + kMark.size()), nullptr, false);
      if (entry.is_discarded() || entry.value("key", "") != "eval_accuracy") continue;
      const std::int64_t time_ms = entry.at("time_ms");
      curve.series.push_back({static_cast<std::int64_t>(curve.series.size() + 1), from_millis(time_ms),
                              entry.at("value").get<double>()});
    }
    if (curve.series.size() < 8) continue;
    curve.at_least = curve.series.back().value > curve.series.front().value;
    for (std::size_t i = curve.series.size() / 2; i < curve.series.size(); ++i) {
      curve.target = curve.series[i].value;
      curves.push_back(curve);
    }
  }
  return curves;
}

Score score(const std::vector<KnownCurve>& curves, double share) {
  Score score;
  std::vector<double> errors;
  for (const KnownCurve& curve : curves) {
    const std::size_t met = *first_met(curve);
    const auto known = static_cast<std::size_t>(share * static_cast<double>(met + 1));
    if (known < 6) continue;
    ++score.asked;
    ProjectionInput input{
        .curve = {curve.series.begin(), curve.series.begin() + static_cast<std::ptrdiff_t>(known)},
        .target = curve.target,
        .at_least = curve.at_least,
        .steps = 0,
        .earlier = {}};
    const Projection projection = project(input);
    const std::int64_t truth = curve.series[met].step;
    const auto& [p10, p50, p90] = projection.step;
    if (p50) {
      ++score.told;
      errors.push_back(std::abs(static_cast<double>(*p50 - truth)) / static_cast<double>(truth));
    }
    if (p10 && *p10 <= truth && (!p90 || truth <= *p90)) ++score.within;
  }
  if (!errors.empty()) {
    std::ranges::sort(errors);
    score.error = errors[errors.size() / 2];
  }
  return score;
}

}  // namespace podium
