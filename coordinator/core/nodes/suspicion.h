// Lemons: nodes that pass every other test, but on which different jobs fail soon after their start. A
// failure counts against the node once the job has run well on other nodes; if it fails there too, the job is
// to blame. A job that ends well on the node, or an operator who resumes it, clears the suspicion. `apply`
// keeps the evidence (events/judge_nodes.h).
#pragma once

#include "coordinator/core/events/events.h"

namespace podium {

inline constexpr std::size_t kLemon = 3;  // experiments whose jobs failed there

// Drains nodes on which enough experiments failed, with the evidence as reason, while other nodes remain.
void drain_lemons(const ClusterState& state, Time now, Events& events);

}  // namespace podium
