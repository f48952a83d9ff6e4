// How many devices each account may have: the quotas and limits of the account tree (state/account.h), and
// what accounts hold, as a plan would change it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/model/job.h"
#include "coordinator/core/state/blocker.h"
#include "coordinator/core/state/state.h"

namespace podium {

// Of devices of one kind.
class AccountLedger {
 public:
  AccountLedger(const ClusterState& state, std::string kind);

  const std::string& kind() const { return kind_; }
  int allocated(const std::string& account) const;
  // Jobs of `account` get `devices` more; fewer where negative.
  void change(const std::string& account, int devices);

  // The limit that `devices` more would exceed, if any.
  std::optional<Blocker> over_limit(const std::string& account, int devices) const;
  // The deepest account, at or above `account`, whose quota covers `devices` more.
  std::optional<std::string> guaranteed_by(const std::string& account, int devices) const;
  // The deepest account, at or above `account`, that has a quota, and the quota.
  struct Quota {
    std::string account;
    int devices = 0;
  };
  std::optional<Quota> nearest_quota(const std::string& account) const;
  // The depths in the tree at which accounts have quotas, the deepest first.
  std::set<int, std::greater<>> quota_depths() const;
  // Whether work of `account` on `devices` may be stopped for `taker`: the devices are borrowed, or `taker`
  // would go first if both waited.
  bool may_take(const std::string& account, int devices, const JobRequest& taker) const;

 private:
  const ClusterState& state_;
  std::string kind_;
  bool quotas_ = false, limits_ = false;  // whether any account has one of this kind
  std::map<std::string, int> changes_;    // relative to the state
};

}  // namespace podium
