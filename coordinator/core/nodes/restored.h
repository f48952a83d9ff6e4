// Handles reports of tasks that this database does not know: they belong to another cluster, or the database
// is a restored older copy. What happened after the copy is not repeated: no number is assigned again, and no
// such job starts without an operator's decision.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/jobs/draft.h"

namespace podium {

bool is_foreign(const ClusterState& state, const ClusterName& cluster);

// Whether a later database than this one gave this number, and those before it, to jobs.
bool was_lost(const ClusterState& state, JobId highest);

// Whether a task of this node was ordered by a later database than this one.
bool is_of_the_future(const ClusterState& state, const NodeDescription& node, TaskId task);

// The live tasks of the report that this database never ordered.
std::vector<TaskId> unknown_tasks(const ClusterState& state, const NodeReport& report);

// The tasks that this database believes to be on the node although the node says that their attempt has ended
// there: it does not list them, or refuses to run them again. An agent forgets only what its coordinator knew
// to be over, so this database is older. Exception: where another task of the attempt is over here, a task
// that was never listed may still wait for its device, or be refused for another reason.
std::set<TaskId> gone_tasks(const ClusterState& state, const NodeReport& report);

// Why such a task is lost.
std::string why_gone(const NodeId& node);

// Stops attempts that have not begun, of jobs that `events` hold.
void stop_what_has_not_begun(const ClusterState& state, const Events& events, Drafts& drafts);

void respect_the_future(const ClusterState& state, const NodeReport& report, const std::set<TaskId>& gone,
                        Time now, Events& events);

}  // namespace podium
