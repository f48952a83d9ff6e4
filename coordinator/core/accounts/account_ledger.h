// Who may have how many devices: quotas and limits of the account tree (state/account.h) against what
// accounts hold, as a plan would change it.
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
  // Jobs of `account` get so many devices more; less, where negative.
  void change(const std::string& account, int devices);

  // The limit that so many more would break.
  std::optional<Blocker> over_limit(const std::string& account, int devices) const;
  // The innermost account around it (or itself) whose quota covers so many devices more.
  std::optional<std::string> guaranteed_by(const std::string& account, int devices) const;
  // The innermost account around it (or itself) that has a quota, and how much.
  struct Quota {
    std::string account;
    int devices = 0;
  };
  std::optional<Quota> nearest_quota(const std::string& account) const;
  // How deep in the tree there are quotas, the deepest first.
  std::set<int, std::greater<>> quota_depths() const;
  // Whether work of `account` on so many devices may be stopped for `taker`: it is borrowed, or `taker` goes
  // before it once both wait.
  bool may_take(const std::string& account, int devices, const JobRequest& taker) const;

 private:
  const ClusterState& state_;
  std::string kind_;
  bool quotas_ = false, limits_ = false;  // whether any account has one of this kind
  std::map<std::string, int> changes_;    // against the state
};

}  // namespace podium
