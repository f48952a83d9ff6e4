// What a node's report knows and this database does not: the tasks are another cluster's, or an older copy of
// the database was restored. Nothing of that later time is done again: no number is given, and no job starts,
// without an operator's word.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/jobs/draft.h"

namespace podium {

bool is_foreign(const ClusterState& state, const ClusterName& cluster);

// A task of this node that somebody ordered and this database did not: it is older than the nodes' memory.
bool is_of_the_future(const ClusterState& state, const NodeDescription& node, TaskId task);

// The live tasks of the report that this database never ordered.
std::vector<TaskId> unknown_tasks(const ClusterState& state, const NodeReport& report);

// The tasks that this database believes on the node, and of which the node says that their attempt has ended
// there: it does not list them, or refuses to run them again. An agent forgets what the database of its time
// knew to be over, so this one is older; but where another task of the attempt is over here, one that never
// was listed may still wait for its device, or be refused for another reason.
std::set<TaskId> gone_tasks(const ClusterState& state, const NodeReport& report);

// Why such a task is lost.
std::string why_gone(const NodeId& node);

// Of these events, the jobs that are held although an attempt of them was about to begin.
void stop_what_has_not_begun(const ClusterState& state, const Events& events, Drafts& drafts);

void respect_the_future(const ClusterState& state, const NodeReport& report, const std::set<TaskId>& gone,
                        Time now, Events& events);

}  // namespace podium
