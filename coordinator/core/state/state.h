// What the coordinator knows of the cluster: nodes, the jobs that have not ended, accounts and sweeps, and
// the indexes over them. Plain values. Only `apply` (events/events.h) writes them; everything here can be
// rebuilt by replaying the event log, but for `Node::last_seen`, `Node::clock` and `clock`, which are fresh
// after a restart. Jobs leave when they end: the store remembers them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/sync.h"
#include "coordinator/core/state/account.h"
#include "coordinator/core/state/indexes.h"
#include "coordinator/core/state/job.h"
#include "coordinator/core/state/node.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/sweeps/halving.h"

namespace podium {

struct ClusterState {
  ClusterName cluster;          // the store's, as the limits are the daemon's
  std::string folder = "jobs";  // of its jobs, in the nodes' shared folder
  Limits limits;
  SchedulingOptions scheduling;
  std::map<NodeId, Node> nodes;
  std::map<JobId, Job> jobs;                // those that have not ended
  std::map<ExperimentId, Halving> sweeps;   // those that end losing trials, until all of these have ended
  std::map<std::string, Account> accounts;  // those that operators made, and those that have held devices
  JobId next_job{1};
  std::map<JobId, JobId> skipped;  // ranges of numbers, each up to the second, that a lost database gave
  ExperimentId next_experiment{1};
  std::int64_t attempts_created = 0;  // gives each attempt its own ports
  Time clock;                         // of the last turn

  // After the coordinator was away; not saved.
  std::set<NodeId> unheard;  // nodes that have not reported since all silence was forgiven, and may yet
  std::optional<Time> listens_until;  // without a fence: for nodes that this database may not list

  Indexes indexes;
  std::int64_t epoch = 0;  // moves on when something changed that a plan depends on

  bool operator==(const ClusterState&) const = default;
};

const Job* find_job(const ClusterState& state, JobId job);
const Node* find_node(const ClusterState& state, const NodeId& node);

// Whether jobs may name the account: an operator made it, it is the default one, or it held devices under an
// older coordinator, which made accounts on demand.
bool account_exists(const ClusterState& state, const std::string& account);
const AccountRules& rules_of(const ClusterState& state, const std::string& account);

// Whether nodes that have not reported since the coordinator was away may know more than its database.
bool awaits_reports(const ClusterState& state);
// Without a fence, and while the coordinator awaits reports, a task that no agent has listed is not ordered:
// it may have been started elsewhere after a copy of the database was taken.
bool is_withheld(const ClusterState& state, const Attempt& attempt, const Task& task);

struct UnknownTask {
  NodeId node;
  TaskId task;
};
// A live task of the job that this database never ordered, on a node that can still end it.
std::optional<UnknownTask> find_unknown(const ClusterState& state, JobId job);

// The next time at which a maintenance window or a reservation of a node ends by itself.
std::optional<Time> next_window_end(const ClusterState& state);

// The orders for the agent of `node` (nodes/orders.cc). Launches lack the spec and the secret, which the core
// does not know. `version` changes with every other change, except from start to keep, which only repeats
// what the agent has reported.
NodeOrders node_orders(const ClusterState& state, const NodeId& node);

}  // namespace podium
