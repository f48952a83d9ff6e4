// Whose turn it is among accounts, by how much of its share each has used. The order is that of Slurm's Fair
// Tree: beginning at the top, the sibling with the least usage by share is chosen, then among its children,
// down to an account with waiting jobs, so that an account's use is its own affair and its children compete
// for what it gets. Jobs that name an account which also has children compete with these as one more child of
// share 1. Usage is device time that decays (state/account.h); each device allocated now, or by this very
// plan, counts as used for kAhead more, so that accounts fill a free cluster in step instead of one after the
// other, as in dominant resource fairness (Ghodsi et al., NSDI 2011) with one resource.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "coordinator/core/accounts/account_ledger.h"

namespace podium {

// Usage by share of an account among its siblings, as of `now`: what the order goes by.
double fair_share_factor(const ClusterState& state, const AccountLedger& ledger, const std::string& account,
                         Time now);

// An account, and its sibling that goes before it; the factors of both.
struct Precedence {
  std::string account, ahead;
  double factor = 0, factor_ahead = 0;
};

// Whom the account's jobs wait for at the first level of the tree, from the top, where another goes first;
// nothing where it is the account's turn. `waiting` are the accounts with waiting jobs.
std::optional<Precedence> behind_whom(const ClusterState& state, const AccountLedger& ledger,
                                      const std::string& account, const std::set<std::string>& waiting,
                                      Time now);

// Whose turn it is among accounts with waiting jobs. A step costs by the depth of the tree.
class FairShareTree {
 public:
  FairShareTree(const ClusterState& state, const AccountLedger& ledger, Time now)
      : state_(state), ledger_(ledger), now_(now) {}

  void add(const std::string& account);
  void remove(const std::string& account);
  // Of those that were added.
  std::string next() const;
  // The account was given so many devices more.
  void charge(const std::string& account, int devices);

 private:
  using Child = std::pair<double, std::string>;  // its factor, and its name

  double factor(const std::string& child);

  const ClusterState& state_;
  const AccountLedger& ledger_;
  Time now_;
  std::map<std::string, double> factors_;            // of the accounts that came up
  std::map<std::string, std::set<Child>> children_;  // with waiting jobs, by parent; that of the top is ""
};

}  // namespace podium
