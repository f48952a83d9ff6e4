// Nothing waits for ever for a node that reports but does not do what it was told: a task that it has not
// started in time sends its job elsewhere, and one that it has not ended in time counts as lost. Its device is
// safe from others: the node is drained until an operator has looked at it, and gets no work as long as it
// still runs what it should not (Node::strays). A node that is silent is not judged here, but by its silence.
#pragma once

#include "coordinator/core/jobs/draft.h"

namespace podium {

void keep_deadlines(const ClusterState& state, Time now, Events& events, Drafts& drafts);

// What an attempt that is being stopped waits for: "waits for rank 1 on node-2 (process 4242) to end, at most
// until 2026-01-01T00:00:00Z". "" where its tasks are over.
std::string awaited(const ClusterState& state, const Job& job);

}  // namespace podium
