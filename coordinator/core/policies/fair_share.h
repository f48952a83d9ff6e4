// Fair share: the account that has used least of its share goes first (accounts/fair_share_tree.h); within an
// account, priority and age decide as in priority_backfill.h.
#pragma once

#include "coordinator/core/policies/priority_backfill.h"

namespace podium {

class FairShare final : public Policy {
 public:
  std::string_view name() const override { return "fair-share"; }
  bool ages() const override { return within_account_.ages(); }
  bool by_account() const override { return true; }
  std::int64_t rank(const SchedulingOptions& options, const Standing& job, Time now) const override {
    return within_account_.rank(options, job, now);
  }
  bool preempts(const SchedulingOptions& options) const override { return within_account_.preempts(options); }
  bool may_preempt(const SchedulingOptions& options, const Standing& waiting, const Standing& running,
                   Time now) const override {
    return within_account_.may_preempt(options, waiting, running, now);
  }
  std::optional<Duration> interval() const override { return std::chrono::minutes(5); }

 private:
  PriorityBackfill within_account_;
};

}  // namespace podium
