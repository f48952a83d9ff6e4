// When a training that runs will reach its target, from the curve it has so far: laws of learning curves are
// fitted to it, weighted by how well each foretold the later part from the earlier, and followed many times
// with the noise that the curve has and the drift by which the laws were wrong before. Pure; the same curve
// gives the same answer. bench/projection scores it on curves whose end is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "coordinator/tracking/series.h"

namespace podium {

struct ProjectionInput {
  Series curve;  // of the target's metric; time_ms tells the pace
  double target = 0;
  bool at_least = true;         // false: at most
  std::int64_t steps = 0;       // after which the training ends; 0: nobody knows
  std::vector<Series> earlier;  // of the same metric, of jobs of the same experiment
};

// A tenth, half and nine tenths of what may happen lie below it. Null: beyond the end of the training, or of
// what is looked at.
template <typename T>
struct Quantiles {
  std::optional<T> p10, p50, p90;
};

struct FanPoint {
  std::int64_t step = 0;
  double p10 = 0, p50 = 0, p90 = 0;  // of the metric
};

struct Projection {
  Quantiles<std::int64_t> step;  // that reaches the target
  Quantiles<Time> time;          // when it does, at the pace so far
  double reaches = 0;        // fraction of what may happen in which it is reached before the training ends
  std::optional<Time> ends;  // when all steps are taken, at the pace so far
  std::vector<FanPoint> fan;
  std::string doubt;  // why nothing is told of the target, as a sentence; "" otherwise
};

Projection project(const ProjectionInput& input);

}  // namespace podium
