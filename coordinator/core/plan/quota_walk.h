// In which order the waiting jobs of one kind are looked at. Those that a quota covers come first, those of
// the deepest accounts before all, so that what is reclaimed for them becomes theirs; within that the best
// job is next or, where the policy goes by account, the best of the account whose turn it is
// (accounts/fair_share_tree.h). The order follows the ledger: whoever walks changes it as jobs get devices.
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/accounts/fair_share_tree.h"
#include "coordinator/core/state/state.h"

namespace podium {

// The jobs of one class that are still to be looked at.
struct Line {
  std::set<QueueKey>::const_iterator next, end;
  const JobClass* job_class = nullptr;  // in the state, so that a line costs nothing to move

  bool operator<(const Line& other) const {
    return *other.next < *next;
  }  // the best on top of a priority_queue
};

// The lines of one tier: all that one depth of quotas covers, or all others.
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

class QuotaWalk {
 public:
  // The ledger outlives the walk.
  QuotaWalk(const ClusterState& state, const AccountLedger& ledger, Time now);

  // The line whose best job is next, out of the walk; nothing at the end.
  std::optional<Line> next();
  // Further jobs of a line that next() gave are to be looked at.
  void put_back(Line line) { order_->add(line); }
  // The account of a line that next() gave has got so many devices more.
  void charge(const Line& line, int devices) { order_->charge(line, devices); }

  // Of the quotas whose jobs come now; 0: the jobs that no quota covers.
  int depth() const { return depth_; }

 private:
  void begin_tier();

  const ClusterState& state_;
  const AccountLedger& ledger_;
  Time now_;
  std::vector<int> depths_{0};  // of the tiers to come, the next last
  int depth_ = 0;
  std::optional<LineOrder> order_;  // of this tier
  std::vector<Line> later_;         // for later tiers
};

// How deep in the account tree the quota is that covers so many devices more; 0: none does.
int depth_of_guarantee(const AccountLedger& ledger, const std::string& account, int devices);

}  // namespace podium
