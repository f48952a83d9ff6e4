// What every account holds, has borrowed, has used and waits for: the figures for people and monitoring.
#pragma once

#include <map>
#include <string>

#include "coordinator/core/state/state.h"

namespace podium {

// For devices of one kind, of the account and all accounts below it.
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
