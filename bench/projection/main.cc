// How far projections of running trainings can be trusted: the shares of curves whose truth lay in P10 to
// P90, and the median error of P50, when a quarter, half and three quarters of the way to the target were
// known.
//   bench_projection [FOLDER OF MLPERF RESULT LOGS]
#include <fmt/format.h>

#include <chrono>

#include "bench/figure.h"
#include "bench/projection/curves.h"

namespace {

using namespace podium;

constexpr int kCurves = 300;
constexpr unsigned kSeed = 7;
constexpr double kLeastWithin = 70;  // percent

void tell(const std::string& of, const std::vector<KnownCurve>& curves, double share) {
  const auto start = std::chrono::steady_clock::now();
  const Score scored = score(curves, share);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  if (scored.asked == 0) return;
  const std::string at = fmt::format("projection at {:.0f} % of {} {} curves", 100 * share, scored.asked, of);
  const auto figure = [&](const std::string& name, double value, const std::string& unit, bool higher) {
    Figure made;
    made.name = at + ": " + name;
    made.value = value;
    made.unit = unit;
    made.higher_is_better = higher;
    return made;
  };
  Figure within = figure("truth in P10-P90", 100.0 * scored.within / scored.asked, "%", true);
  within.goal = kLeastWithin;
  print(within);
  print(figure("error of P50", 100 * scored.error, "%", false));
  print(figure("time", spent.count() / scored.asked, "ms", false));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<KnownCurve> made = synthetic_curves(kCurves, kSeed);
  const std::vector<KnownCurve> told = argc > 1 ? mlperf_curves(argv[1]) : std::vector<KnownCurve>{};
  for (const double share : {0.25, 0.5, 0.75}) {
    tell("synthetic", made, share);
    tell("MLPerf", told, share);
  }
}
