// Nodes whose machines are lent, by Slurm say, for some time or until they are given back.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/events/events.h"

namespace podium {

// A node's label with the time at which it must be given back, in seconds since 1970.
inline constexpr std::string_view kLoanEnds = "loan-ends";

// A maintenance window from the end of the loan on: only jobs that end before it start there.
std::optional<Drain> end_of_loan(const NodeDescription& node);

Result<Events> remove_node(const ClusterState& state, const RemoveNode& command, Time now);

}  // namespace podium
