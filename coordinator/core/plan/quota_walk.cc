#include "coordinator/core/plan/quota_walk.h"

#include <utility>

#include "coordinator/core/policies/policy.h"

namespace podium {

LineOrder::LineOrder(const ClusterState& state, const AccountLedger& ledger, Time now)
    : by_account_(policy_of(state.scheduling.policy).by_account()), turns_(state, ledger, now) {}

const std::string& LineOrder::group_of(const Line& line) const {
  static const std::string all;
  return by_account_ ? line.job_class->account : all;
}

void LineOrder::add(Line line) {
  const auto [group, fresh] = lines_.try_emplace(group_of(line));
  if (by_account_ && fresh) turns_.add(group->first);
  group->second.push(line);
}

Line LineOrder::take() {
  const auto group = by_account_ ? lines_.find(turns_.next()) : lines_.begin();
  Line line = group->second.top();
  group->second.pop();
  if (!group->second.empty()) return line;
  if (by_account_) turns_.remove(group->first);
  lines_.erase(group);
  return line;
}

void LineOrder::charge(const Line& line, int devices) {
  if (by_account_) turns_.charge(line.job_class->account, devices);
}

QuotaWalk::QuotaWalk(const ClusterState& state, const AccountLedger& ledger, Time now)
    : state_(state), ledger_(ledger), now_(now) {
  const auto deepest_first = ledger.quota_depths();
  depths_.insert(depths_.end(), deepest_first.rbegin(), deepest_first.rend());
  if (const auto queue = state.indexes.queues.find(ledger.kind()); queue != state.indexes.queues.end())
    for (const auto& [job_class, jobs] : queue->second)
      later_.push_back({jobs.begin(), jobs.end(), &job_class});
  begin_tier();
}

void QuotaWalk::begin_tier() {
  depth_ = depths_.back();
  depths_.pop_back();
  order_.emplace(state_, ledger_, now_);
  for (const Line& line : std::exchange(later_, {})) order_->add(line);
}

std::optional<Line> QuotaWalk::next() {
  while (true) {
    if (order_->empty()) {
      if (depths_.empty()) return std::nullopt;
      begin_tier();
      continue;
    }
    Line line = order_->take();
    const JobClass& of = *line.job_class;
    if (depth_ == 0 || depth_of_guarantee(ledger_, of.account, of.shape.devices) == depth_) return line;
    later_.push_back(line);
  }
}

int depth_of_guarantee(const AccountLedger& ledger, const std::string& account, int devices) {
  const auto guarantee = ledger.guaranteed_by(account, devices);
  return guarantee ? depth_of(*guarantee) : 0;
}

}  // namespace podium
