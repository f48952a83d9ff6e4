// node_orders: the tasks of live attempts on one node, without those that are over.
#include "coordinator/core/state/state.h"

namespace podium {
namespace {

// A task that an agent has listed is never started again: the agent may have lost its home, or be another
// one.
TaskAction action_for(const Attempt& attempt, const Task& task) {
  if (attempt.stop != StopCause::none) return TaskAction::stop;
  return task.listed ? TaskAction::keep : TaskAction::start;
}

TaskOrder order_for(const ClusterState& state, const Job& job, std::size_t rank) {
  const Attempt& attempt = *job.attempt;
  const Placement& place = attempt.allocation.ranks[rank];
  TaskOrder order;
  order.wait = fence_wait(attempt, state.limits);
  order.begun = attempt.created;
  order.action = action_for(attempt, attempt.tasks[rank]);
  Launch& launch = order.launch;
  launch.task = {job.attempt_id(), static_cast<int>(rank)};
  launch.name = job.request.name;
  launch.world_size = static_cast<int>(attempt.tasks.size());
  launch.local_rank = place.local_rank;
  launch.local_world_size = place.local_world_size;
  launch.node_rank = place.node_rank;
  launch.nodes = attempt.allocation.nodes;
  launch.node = place.node;
  launch.master_address = attempt.allocation.master_address;
  launch.master_port = attempt.allocation.master_port;
  launch.device_kind = job.request.kind;
  launch.device_index = place.device;
  launch.more_devices = place.more_devices;
  launch.threads = place.threads;
  launch.grace = attempt.stopping ? attempt.grace : job.request.grace;
  return order;
}

// A task that this database never ordered: only its id is known.
TaskOrder order_for_unknown(const Node& node, TaskId task) {
  TaskOrder order;
  order.action = node.adopted.value_or(false) ? TaskAction::stop : TaskAction::keep;
  order.launch.task = task;
  order.launch.name = order.launch.spec.name = "unknown";
  order.launch.spec.command = {"unknown"};
  order.launch.world_size = task.rank + 1;
  order.launch.node = node.description.id;
  return order;
}

}  // namespace

NodeOrders node_orders(const ClusterState& state, const NodeId& id) {
  NodeOrders orders;
  orders.lease = state.limits.lease;
  if (state.limits.shared) orders.orphan = state.limits.orphan;
  const Node* node = find_node(state, id);
  if (!node) return orders;
  orders.version = node->version();
  orders.cluster = state.cluster;
  orders.folder = state.folder;
  const bool foreign = !node->stranger.empty() && !node->unknown.empty();
  // The agent follows only its own cluster, so an operator's decision is sent in that cluster's name.
  if (foreign && node->adopted) orders.cluster = {node->stranger, 0};
  if (!foreign || node->adopted)
    for (const TaskId task : node->unknown) orders.tasks.push_back(order_for_unknown(*node, task));
  if (foreign) return orders;
  for (const JobId job_id : holders_of(*node)) {
    const Job& job = state.jobs.at(job_id);
    const Attempt& attempt = *job.attempt;
    for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank)
      if (attempt.allocation.ranks[rank].node == id && !attempt.tasks[rank].over() &&
          !is_withheld(state, attempt, attempt.tasks[rank]))
        orders.tasks.push_back(order_for(state, job, rank));
  }
  return orders;
}

}  // namespace podium
