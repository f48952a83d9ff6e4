// What a training tells of its steps, with all the digits that it tells.
#pragma once

#include <string>

namespace podium {

inline constexpr int kMetricsInLine = 6;

// Of `steps` steps, those after `batch` such batches: lines of events.jsonl, the same every time.
std::string metric_lines(int batch, int steps);

}  // namespace podium
