// Which account's turn it is, by its usage relative to its share. The order is that of Slurm's Fair Tree:
// from the top down, the sibling with the least usage by share is chosen, then one of its children in the
// same way, down to an account with waiting jobs. So an account competes only with its siblings, and its
// children compete for what it gets. The jobs of an account that also has children compete with these as one
// more child of share 1. Usage is device time that decays (state/account.h). Each device that is allocated
// now, or by the plan being made, counts as used for kAhead longer, so that accounts fill a free cluster in
// step instead of one after the other, as in dominant resource fairness (Ghodsi et al., NSDI 2011) with one
// resource.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "coordinator/core/accounts/account_ledger.h"

namespace podium {

// Usage by share of an account, as of `now`: siblings are ordered by it.
double fair_share_factor(const ClusterState& state, const AccountLedger& ledger, const std::string& account,
                         Time now);

// An account and the sibling that goes before it, with the factors of both.
struct Precedence {
  std::string account, ahead;
  double factor = 0, factor_ahead = 0;
};

// The account that jobs of `account` wait for, at the highest level of the tree where a sibling goes first;
// nothing where it is the account's turn. `waiting`: the accounts with waiting jobs.
std::optional<Precedence> behind_whom(const ClusterState& state, const AccountLedger& ledger,
                                      const std::string& account, const std::set<std::string>& waiting,
                                      Time now);

// The order of accounts with waiting jobs. The cost of a step depends on the depth of the tree.
class FairShareTree {
 public:
  FairShareTree(const ClusterState& state, const AccountLedger& ledger, Time now)
      : state_(state), ledger_(ledger), now_(now) {}

  void add(const std::string& account);
  void remove(const std::string& account);
  // The account whose turn it is, of those that were added.
  std::string next() const;
  // The account has been granted `devices` more.
  void charge(const std::string& account, int devices);

 private:
  using Child = std::pair<double, std::string>;  // its factor, and its name

  double factor(const std::string& child);

  const ClusterState& state_;
  const AccountLedger& ledger_;
  Time now_;
  std::map<std::string, double> factors_;            // of the accounts looked at
  std::map<std::string, std::set<Child>> children_;  // with waiting jobs, by parent; "" is the top
};

}  // namespace podium
