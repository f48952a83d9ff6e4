// The benchmarks of a real cluster on this machine. Each measures Podium beside the limit it works against,
// both in the same run, and gives one record a figure.
#pragma once

#include <vector>

#include "bench/figure.h"

namespace podium {

std::vector<Figure> measure_ingest();
std::vector<Figure> measure_submissions();
std::vector<Figure> measure_launch_latency();
std::vector<Figure> measure_memory();

}  // namespace podium
