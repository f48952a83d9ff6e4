#include "coordinator/core/plan/start_order.h"

namespace podium {

StartOrder::StartOrder(const ClusterState& state, const std::string& kind, Time now)
    : ledger_(state, kind), walk_(state, ledger_, now) {}

std::optional<QueuePlace> StartOrder::next() {
  auto line = walk_.next();
  if (!line) return std::nullopt;
  const std::string& account = line->job_class->account;
  const int devices = line->job_class->shape.devices;
  QueuePlace place{line->next->job, line->next->rank, ledger_.guaranteed_by(account, devices)};
  if (!ledger_.over_limit(account, devices)) {
    ledger_.change(account, devices);
    walk_.charge(*line, devices);
  }
  if (++line->next != line->end) walk_.put_back(*line);
  return place;
}

std::int64_t queue_size(const ClusterState& state, const std::string& kind) {
  std::int64_t size = 0;
  if (const auto queue = state.indexes.queues.find(kind); queue != state.indexes.queues.end())
    for (const auto& [job_class, jobs] : queue->second) size += std::ssize(jobs);
  return size;
}

}  // namespace podium
