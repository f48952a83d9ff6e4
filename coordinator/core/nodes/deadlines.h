// Deadlines for nodes that report but do not follow their orders. If a node does not start a task in time,
// the job starts elsewhere; that time begins anew once the inputs of its tasks are staged. If it does not end
// a task in time, the task counts as lost; no other job gets its device, because the node is drained until an
// operator has looked at it, and gets no work while it runs tasks that no order covers (Node::strays). Silent nodes are judged by their silence instead (handle.cc).
#pragma once

#include "coordinator/core/jobs/draft.h"

namespace podium {

void keep_deadlines(const ClusterState& state, Time now, Events& events, Drafts& drafts);

// What an attempt that is being stopped waits for: "waits for rank 1 on node-2 (process 4242) to end, at most
// until 2026-01-01T00:00:00Z". "" where its tasks are over.
std::string awaited(const ClusterState& state, const Job& job);

}  // namespace podium
