#include "coordinator/core/plan/line_order.h"

#include "coordinator/core/policies/policy.h"

namespace podium {

LineOrder::LineOrder(const ClusterState& state, const AccountLedger& ledger, Time now)
    : by_account_(policy_of(state.scheduling.policy).by_account()), turns_(state, ledger, now) {}

const std::string& LineOrder::group_of(const Line& line) const {
  static const std::string all;
  return by_account_ ? line.key->account : all;
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
  if (by_account_) turns_.charge(line.key->account, devices);
}

}  // namespace podium
