#include "coordinator/core/plan/queue_walk.h"

#include <utility>

#include "coordinator/core/state/blocker.h"

namespace podium {

QueueWalk::QueueWalk(const ClusterState& state, const std::string& kind, Time now)
    : state_(state), now_(now), ledger_(state, kind), depths_{0} {
  const auto deepest_first = ledger_.quota_depths();
  depths_.insert(depths_.end(), deepest_first.rbegin(), deepest_first.rend());
  std::vector<Line> lines;
  const auto queue = state_.indexes.queues.find(kind);
  if (queue != state_.indexes.queues.end())
    for (const auto& [key, jobs] : queue->second) lines.push_back({jobs.begin(), jobs.end(), &key});
  begin(std::move(lines));
}

void QueueWalk::begin(std::vector<Line> lines) {
  depth_ = depths_.back();
  depths_.pop_back();
  order_.emplace(state_, ledger_, now_);
  for (Line& line : lines) order_->add(line);
}

std::optional<QueuePlace> QueueWalk::next() {
  while (true) {
    if (order_->empty()) {
      if (depths_.empty()) return std::nullopt;
      begin(std::exchange(later_, {}));
      continue;
    }
    Line line = order_->take();
    const std::string& account = line.key->account;
    const int devices = line.key->shape.devices;
    auto by = ledger_.guaranteed_by(account, devices);
    if (depth_ > 0 && (!by || depth_of(*by) != depth_)) {
      later_.push_back(line);
      continue;
    }
    QueuePlace place{line.next->job, line.next->rank, std::move(by)};
    if (!ledger_.over_limit(account, devices)) {
      ledger_.change(account, devices);
      order_->charge(line, devices);
    }
    if (++line.next != line.end) order_->add(line);
    return place;
  }
}

std::int64_t queue_size(const ClusterState& state, const std::string& kind) {
  std::int64_t size = 0;
  if (const auto queue = state.indexes.queues.find(kind); queue != state.indexes.queues.end())
    for (const auto& [key, jobs] : queue->second) size += std::ssize(jobs);
  return size;
}

}  // namespace podium
