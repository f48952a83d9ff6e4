// Operators make accounts, change their share, quota and limit, and delete them.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

// The account above must exist already.
Result<Events> change_account(const ClusterState& state, const ChangeAccount& command, Time now);
// Refused while live jobs, accounts below it or reservations of nodes need it.
Result<Events> delete_account(const ClusterState& state, const std::string& account, Time now);

// The error for a job or a reservation that names an unknown account.
Error no_such_account(const std::string& account, const std::string& where);

// Sentences about settings that may be mistakes: a quota that the cluster cannot serve, or that a limit above
// cuts off.
std::vector<std::string> account_warnings(const ClusterState& state, const std::string& account);

// Makes the account and those above it that do not exist, as a simulation does for its trace's jobs.
Events missing_accounts(const ClusterState& state, const std::string& account, Time now);

}  // namespace podium
