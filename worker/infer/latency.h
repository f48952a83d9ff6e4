// How long a pass takes: inputs are in the context's memory, each pass is waited for.
#pragma once

#include <vector>

#include "worker/infer/bert_session.h"

namespace podium {

struct Latency {
  double median_ms = 0;
  double p90_ms = 0;
  double p99_ms = 0;
  double sequences_per_second = 0;  // at the median
};

std::vector<double> pass_milliseconds(const Context& context, BertSession& session, int passes);
Latency measure_latency(const Context& context, BertSession& session, int warmup, int repeats);

}  // namespace podium
