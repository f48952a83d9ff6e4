#include "worker/commands/replica_metrics.h"

#include <algorithm>

namespace podium {
namespace {

constexpr Duration kSpan = std::chrono::seconds(10);
constexpr int kIdleEvery = std::chrono::minutes(5) / kSpan;

MetricsEvent metrics_of(const LoadFigures& load, std::int64_t step) {
  MetricsEvent event{step, {{"serve/requests_per_second", load.requests_per_second}}};
  if (load.requests == 0) return event;
  event.values.emplace_back("serve/failed", static_cast<double>(load.failed));
  if (load.latency_ms) {
    event.values.emplace_back("serve/latency_p50_ms", load.latency_ms->p50);
    event.values.emplace_back("serve/latency_p90_ms", load.latency_ms->p90);
    event.values.emplace_back("serve/latency_p99_ms", load.latency_ms->p99);
  }
  if (load.queue_ms) event.values.emplace_back("serve/queue_p90_ms", load.queue_ms->p90);
  return event;
}

}  // namespace

std::optional<MetricsEvent> ReplicaMetrics::of(const LoadFigures& load, Time wall) {
  step_ = std::max(step_ + 1, to_millis(wall) / kSpan.count());
  const int idle_before = idle_;
  idle_ = load.requests == 0 ? idle_ + 1 : 0;
  if (idle_ > 0 && idle_before % kIdleEvery != 0) return std::nullopt;
  return metrics_of(load, step_);
}

}  // namespace podium
