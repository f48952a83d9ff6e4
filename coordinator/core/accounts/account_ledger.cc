#include "coordinator/core/accounts/account_ledger.h"

#include <algorithm>
#include <utility>

namespace podium {
namespace {

std::optional<int> of_kind(const std::map<std::string, int>& devices, const std::string& kind) {
  const auto found = devices.find(kind);
  return found == devices.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

AccountLedger::AccountLedger(const ClusterState& state, std::string kind)
    : state_(state), kind_(std::move(kind)) {
  for (const auto& [name, account] : state.accounts) {
    quotas_ = quotas_ || account.rules.quota.contains(kind_);
    limits_ = limits_ || account.rules.limit.contains(kind_);
  }
}

int AccountLedger::allocated(const std::string& account) const {
  int devices = 0;
  if (const auto known = state_.accounts.find(account); known != state_.accounts.end())
    if (const auto usage = known->second.usage.find(kind_); usage != known->second.usage.end())
      devices = usage->second.devices;
  const auto change = changes_.find(account);
  return change == changes_.end() ? devices : devices + change->second;
}

void AccountLedger::change(const std::string& account, int devices) {
  for (const std::string& name : lineage(account)) changes_[name] += devices;
}

std::optional<Blocker> AccountLedger::over_limit(const std::string& account, int devices) const {
  if (!limits_) return std::nullopt;
  for (const std::string& name : lineage(account)) {
    const auto limit = of_kind(rules_of(state_, name).limit, kind_);
    const int would_have = allocated(name) + devices;
    if (!limit || would_have <= *limit) continue;
    Blocker blocker{.code = BlockerCode::limit, .needs = would_have, .has = *limit};
    blocker.sentence = "account " + name + " would hold " + std::to_string(would_have) + " " + kind_ +
                       " devices, and may hold " + std::to_string(*limit) + " at most";
    return blocker;
  }
  return std::nullopt;
}

std::optional<std::string> AccountLedger::guaranteed_by(const std::string& account, int devices) const {
  if (!quotas_) return std::nullopt;
  const std::vector<std::string> path = lineage(account);
  const auto covers = [&](const std::string& name) {
    const auto quota = of_kind(rules_of(state_, name).quota, kind_);
    return quota && allocated(name) + devices <= *quota;
  };
  const auto innermost = std::find_if(path.rbegin(), path.rend(), covers);
  return innermost == path.rend() ? std::nullopt : std::optional(*innermost);
}

std::optional<AccountLedger::Quota> AccountLedger::nearest_quota(const std::string& account) const {
  std::optional<Quota> nearest;
  for (const std::string& name : lineage(account))
    if (const auto quota = of_kind(rules_of(state_, name).quota, kind_)) nearest = Quota{name, *quota};
  return nearest;
}

std::set<int, std::greater<>> AccountLedger::quota_depths() const {
  std::set<int, std::greater<>> depths;
  for (const auto& [name, account] : state_.accounts)
    if (account.rules.quota.contains(kind_)) depths.insert(depth_of(name));
  return depths;
}

bool AccountLedger::may_take(const std::string& account, int devices, const JobRequest& taker) const {
  if (!quotas_) return true;
  const std::vector<std::string> path = lineage(account);
  const auto covers = [&](const std::string& name) {
    const auto quota = of_kind(rules_of(state_, name).quota, kind_);
    return quota && allocated(name) <= *quota;
  };
  const auto innermost = std::find_if(path.rbegin(), path.rend(), covers);
  if (innermost == path.rend()) return true;
  if (!is_at_or_below(taker.account, *innermost)) return false;
  // Between two jobs that one quota covers the policy decides; a job that a deeper quota covers goes first.
  if (allocated(*innermost) - devices + taker.devices <= *of_kind(rules_of(state_, *innermost).quota, kind_))
    return true;
  const auto guarantee = guaranteed_by(taker.account, taker.devices);
  return guarantee && depth_of(*guarantee) > depth_of(*innermost);
}

}  // namespace podium
