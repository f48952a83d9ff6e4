// The jobs that wait for devices of one kind, in the order in which they would start were devices to come
// free one job at a time: those that a quota covers first, and each job charged to its account
// as it is passed. What a plan does (plan.cc), without looking at devices.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/plan/line_order.h"

namespace podium {

struct QueuePlace {
  JobId job;
  std::int64_t rank = 0;                     // by the policy
  std::optional<std::string> guaranteed_by;  // the account whose quota covers it
};

class QueueWalk {
 public:
  QueueWalk(const ClusterState& state, const std::string& kind, Time now);
  QueueWalk(const QueueWalk&) = delete;

  // Costs as little as the order of its lines; nothing at the end.
  std::optional<QueuePlace> next();

 private:
  void begin(std::vector<Line> lines);

  const ClusterState& state_;
  Time now_;
  AccountLedger ledger_;
  std::optional<LineOrder> order_;
  std::vector<int> depths_;  // of quotas whose jobs come later, the deepest last; 0 first, for the other jobs
  int depth_ = 0;            // of those whose jobs come now
  std::vector<Line> later_;
};

// How many jobs wait for devices of a kind.
std::int64_t queue_size(const ClusterState& state, const std::string& kind);

}  // namespace podium
