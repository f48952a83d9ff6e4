// The log of a run whose training was cut off and goes on from a checkpoint: what it keeps. The clock has run
// on since the run_start of the first attempt, as MLPerf's may not pause. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/mlperf/log.h"

namespace podium::mlperf {

// The lines up to the first evaluation of more than `samples` (as the log counts them) or to the end of the
// training: that is told again. A run that has ended keeps all.
std::vector<Line> kept_lines(std::vector<Line> lines, std::int64_t samples);

// Whether the run's clock has started, and whether it has stopped.
bool has_started(const std::vector<Line>& lines);
bool has_ended(const std::vector<Line>& lines);

}  // namespace podium::mlperf
