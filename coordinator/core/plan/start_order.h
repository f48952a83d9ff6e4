// The jobs that wait for devices of one kind, in the order in which they would start if devices became free
// for one job at a time: each job is charged to its account as it is passed. A plan uses the same order
// (quota_walk.h) and also looks at devices.
#pragma once

#include <optional>
#include <string>

#include "coordinator/core/plan/quota_walk.h"

namespace podium {

struct QueuePlace {
  JobId job;
  std::int64_t rank = 0;                     // by the policy
  std::optional<std::string> guaranteed_by;  // the account whose quota covers it
};

class StartOrder {
 public:
  StartOrder(const ClusterState& state, const std::string& kind, Time now);
  StartOrder(const StartOrder&) = delete;  // the walk refers to the ledger

  // The next job; nothing at the end.
  std::optional<QueuePlace> next();

 private:
  AccountLedger ledger_;
  QuotaWalk walk_;
};

// How many jobs wait for devices of a kind.
std::int64_t queue_size(const ClusterState& state, const std::string& kind);

}  // namespace podium
