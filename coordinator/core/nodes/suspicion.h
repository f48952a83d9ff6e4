// Lemons: nodes on which different jobs fail soon after their start, and which pass every other test. A
// failure is held against the job's node once the job has done well on others; where it fails there too, it
// is the job's own. What ends well there, or an operator who resumes the node, clears it. `apply` keeps the
// evidence (events/judge_nodes.h).
#pragma once

#include "coordinator/core/events/events.h"

namespace podium {

inline constexpr std::size_t kLemon = 3;  // experiments whose jobs failed there

// Drains the nodes that enough jobs suspect, with the evidence as reason, while there are others.
void drain_lemons(const ClusterState& state, Time now, Events& events);

}  // namespace podium
