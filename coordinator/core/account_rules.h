// Operators change an account's share, quota and limit.
#pragma once

#include "common/base/error.h"
#include "coordinator/core/commands.h"
#include "coordinator/core/events.h"

namespace podium {

Result<Events> change_account(const ClusterState& state, const ChangeAccount& command, Time now);

}  // namespace podium
