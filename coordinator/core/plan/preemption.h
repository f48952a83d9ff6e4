// Which running jobs make room for a blocked one: those the policy lets go, the least deserving first and
// among them those that lose the least work, never one that is almost done, and no more than it takes. Or,
// under every policy, work that other accounts run beyond their quotas, for a job within its account's: that
// which loses least. Neither takes from an account that is within its quota.
#pragma once

#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/core/policies/policy.h"

namespace podium {

// Whether an attempt is left alone, because it will end soon.
bool almost_done(const Job& job, Time now);
// Device time since its last checkpoint.
Duration lost_work(const Job& job, Time now);

// `pool` counts what those that leave already have as free, `ledger` as no longer allocated. Empty where
// stopping every candidate would not do.
std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  AccountLedger ledger, const Job& blocked, Time now);
// For a job that `account`'s quota covers.
std::vector<JobId> choose_borrowers(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                    const Job& blocked, const std::string& account, Time now);

}  // namespace podium
