// Which running jobs stop so that a blocked one can start. Preemption stops those that the policy lets the
// job stop: the least deserving first, and of equals those that lose the least work. Reclaiming, under every
// policy, stops work that accounts run beyond their quotas for a job that a quota covers: what loses the
// least work first. Both stop no more than the job needs, leave alone what is almost done, and stop nothing
// that a quota covers, unless the job is of that quota's account as well (AccountLedger::may_take).
#pragma once

#include <vector>

#include "coordinator/core/accounts/account_ledger.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/core/policies/policy.h"

namespace podium {

// Whether the attempt will end so soon that it is not stopped.
bool almost_done(const Job& job, Time now);
// Device time since its last checkpoint.
Duration lost_work(const Job& job, Time now);

// `pool` counts the devices of leaving jobs as free, `ledger` as no longer allocated. Empty where stopping
// every candidate is not enough.
std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  AccountLedger ledger, const Job& blocked, Time now);
// For a job that `account`'s quota covers.
std::vector<JobId> choose_borrowers(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                    const Job& blocked, const std::string& account, Time now);

}  // namespace podium
