// Curves of trainings whose end is known, and how well project() foretells it from their beginnings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/tracking/series.h"

namespace podium {

struct KnownCurve {
  std::string family;
  Series series;  // goes on beyond the target
  double target = 0;
  bool at_least = true;
};

// Half of them losses, half accuracies, none exactly of a law that is fitted: sums of laws, learning rates
// that fall to zero or in steps, with noise of 0.2 to 3 % of the range and spikes.
std::vector<KnownCurve> synthetic_curves(int count, unsigned seed);

// One for each of several targets along the evaluations of every MLPerf result log in the folder.
std::vector<KnownCurve> mlperf_curves(const std::filesystem::path& folder);

struct Score {
  int asked = 0;     // curves that the beginning of was long enough
  int told = 0;      // of which a median was told
  int within = 0;    // where the truth lay in P10 to P90
  double error = 0;  // median of |P50 - truth| / truth, in steps
};

// From the part of each curve that was known after `share` of the steps to its target.
Score score(const std::vector<KnownCurve>& curves, double share);

}  // namespace podium
