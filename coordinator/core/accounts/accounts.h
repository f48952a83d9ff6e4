// The account tree. A job belongs to an account, "nlp/bert", and so to everything above it, "nlp"; operators
// make accounts, for a limit that a new name evades is none, and give them shares, guaranteed devices
// (quotas) and hard limits. What accounts hold and have used is kept by apply; usage decays exponentially,
// and is settled only when what an account holds changes, so that a replay adds the same numbers in the same
// order.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/model/job.h"

namespace podium {

struct ClusterState;
struct Blocker;
struct Job;

// What operators set. Quota and limit are devices by kind.
struct AccountRules {
  int share = 1;                     // of what its parent gets, against the account's siblings
  std::map<std::string, int> quota;  // guaranteed: work beyond it is borrowed, and can be taken back
  std::map<std::string, int> limit;  // never more than this at a time

  bool operator==(const AccountRules&) const = default;
};

// Of devices of one kind.
struct Usage {
  int devices = 0;            // held now
  double device_seconds = 0;  // decayed, as of `at`
  Time at;

  bool operator==(const Usage&) const = default;
};

struct Account {
  AccountRules rules;
  std::map<std::string, Usage> usage;  // by device kind, of everything at and below the account
  std::map<std::string, Usage> own;    // of the jobs that name the account itself

  bool operator==(const Account&) const = default;
};

inline constexpr std::string_view kDefaultAccount = "default";

// "nlp/bert" → {"nlp", "nlp/bert"}.
std::vector<std::string> lineage(const std::string& account);
// 1 for "nlp", 2 for "nlp/bert".
int depth_of(const std::string& account);
bool is_at_or_below(const std::string& account, const std::string& above);
// Why it cannot be an account's name; nothing when it can.
std::optional<std::string> bad_account_name(const std::string& name);

// Whether jobs may name it: an operator made it, or it has held devices under a coordinator that let accounts
// make themselves; the default one always.
bool account_exists(const ClusterState& state, const std::string& account);

const AccountRules& rules_of(const ClusterState& state, const std::string& account);

// Device seconds with decay, as of `now`: what was used `half_life` ago counts half.
double used(const Usage& usage, Duration half_life, Time now);

// The job's attempt takes (or gives back) its devices at `at`.
void charge_account(ClusterState& state, const Job& job, int devices, Time at);

// What the accounts hold of one kind, as a plan would change it.
class AccountLedger {
 public:
  AccountLedger(const ClusterState& state, std::string kind);

  const std::string& kind() const { return kind_; }
  int held(const std::string& account) const;
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
