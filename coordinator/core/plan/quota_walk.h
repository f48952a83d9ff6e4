// The order in which a plan tries the waiting jobs of one kind. Jobs that a quota covers come first, those of
// the deepest quotas before the others, so that devices reclaimed for them go to them. Within such a tier the
// best job is next or, where the policy goes by account, the best job of the account whose turn it is
// (accounts/fair_share_tree.h). The order depends on the ledger, which the caller updates as jobs get
// devices.
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
  const JobClass* job_class = nullptr;  // points into the state, so that moving a line is cheap

  bool operator<(const Line& other) const {
    return *other.next < *next;
  }  // the best on top of a priority_queue
};

// The lines of one tier: the jobs that quotas of one depth cover, or the jobs that no quota covers.
class LineOrder {
 public:
  LineOrder(const ClusterState& state, const AccountLedger& ledger, Time now);

  bool empty() const { return lines_.empty(); }
  void add(Line line);
  Line take();
  // The line's account has got `devices` more.
  void charge(const Line& line, int devices);

 private:
  const std::string& group_of(const Line& line) const;

  bool by_account_;
  std::map<std::string, std::priority_queue<Line>> lines_;  // by account, or all of them under ""
  FairShareTree turns_;
};

class QuotaWalk {
 public:
  // The ledger must outlive the walk.
  QuotaWalk(const ClusterState& state, const AccountLedger& ledger, Time now);

  // Removes and returns the line whose best job is next; nothing at the end.
  std::optional<Line> next();
  // Returns a line from next() to the walk, for its further jobs.
  void put_back(Line line) { order_->add(line); }
  // The account of a line from next() has got `devices` more.
  void charge(const Line& line, int devices) { order_->charge(line, devices); }

  // The depth of the quotas whose jobs come now; 0: jobs that no quota covers.
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

// The depth in the account tree of the quota that covers `devices` more; 0: none does.
int depth_of_guarantee(const AccountLedger& ledger, const std::string& account, int devices);

}  // namespace podium
