// In which order a plan looks at the lines of waiting jobs. A line holds jobs that are alike but for their
// rank: one account, one shape. The best job of all lines is next; where the policy goes by account, that of
// the account whose turn it is (accounts/fair_share_tree.h).
#pragma once

#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/accounts/fair_share_tree.h"
#include "coordinator/core/state/state.h"

namespace podium {

// The jobs of one line that are still to be looked at.
struct Line {
  std::set<QueueKey>::const_iterator next, end;
  const JobClass* key = nullptr;  // in the state, so that a line costs nothing to move

  bool operator<(const Line& other) const {
    return *other.next < *next;
  }  // the best on top of a priority_queue
};

class LineOrder {
 public:
  LineOrder(const ClusterState& state, const AccountLedger& ledger, Time now);

  bool empty() const { return lines_.empty(); }
  void add(Line line);
  Line take();
  // Its account has got so many devices more.
  void charge(const Line& line, int devices);

 private:
  const std::string& group_of(const Line& line) const;

  bool by_account_;
  std::map<std::string, std::priority_queue<Line>> lines_;  // by account, or all of them under ""
  FairShareTree turns_;
};

}  // namespace podium
