// What every account holds, has borrowed and used, and waits for: the figures that people and monitoring see.
#pragma once

#include <map>
#include <string>

#include "coordinator/core/state/state.h"

namespace podium {

// Of devices of one kind, of the account and all below it.
struct AccountFigures {
  int devices = 0;            // allocated now
  int borrowed = 0;           // of them, those that accounts with quotas may reclaim
  double device_seconds = 0;  // decayed
  double factor = 0;          // usage by share (fair_share_factor)
  std::int64_t waiting_jobs = 0;
  std::int64_t waiting_devices = 0;
};

using AccountReport = std::map<std::string, std::map<std::string, AccountFigures>>;  // by account, by kind

// Every account that has rules, has held devices or has jobs in line, and those above it.
AccountReport report_accounts(const ClusterState& state, Time now);

}  // namespace podium
