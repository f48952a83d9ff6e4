#include "worker/infer/latency.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace podium {
namespace {

using Clock = std::chrono::steady_clock;

double pass_ms(const Context& context, BertSession& session) {
  const Clock::time_point begin = Clock::now();
  session.run();
  context.memory.synchronise();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The smallest value that `share` of the sorted ones do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

std::vector<double> pass_milliseconds(const Context& context, BertSession& session, int passes) {
  std::vector<double> times;
  for (int i = 0; i < passes; ++i) times.push_back(pass_ms(context, session));
  return times;
}

Latency measure_latency(const Context& context, BertSession& session, int warmup, int repeats) {
  pass_milliseconds(context, session, warmup);
  std::vector<double> times = pass_milliseconds(context, session, repeats);
  std::ranges::sort(times);
  const double median = percentile(times, 0.5);
  return {median, percentile(times, 0.9), percentile(times, 0.99), 1e3 * session.shape().sequences / median};
}

}  // namespace podium
