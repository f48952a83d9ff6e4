// Predicts when a running training will reach its target from its curve so far. Laws of learning curves are
// fitted to it, weighted by how well each predicted the later part from the earlier one, and extrapolated
// many times with the noise of the curve and the drift of earlier predictions. Pure: equal curves give equal
// answers. bench/projection scores it on curves whose end is known.
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
  std::int64_t steps = 0;       // after which the training ends; 0: not known
  std::vector<Series> earlier;  // of the same metric, of jobs of the same experiment
};

// Quantiles of the possible outcomes. None: beyond the end of the training or of the prediction.
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
  double reaches = 0;            // probability that it is reached before the training ends
  std::optional<Time> ends;      // when all steps are taken, at the pace so far
  std::vector<FanPoint> fan;
  std::string doubt;  // a sentence: why there is no prediction; "" otherwise
};

Projection project(const ProjectionInput& input);

}  // namespace podium
