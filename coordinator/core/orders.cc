// node_orders: the tasks of the living attempts on one node, but for those that are over.
#include "coordinator/core/state.h"

namespace podium {
namespace {

TaskOrder order_for(const Job& job, std::size_t rank) {
  const Attempt& attempt = *job.attempt;
  const Placement& place = attempt.allocation.ranks[rank];
  TaskOrder order;
  order.action = attempt.stop == StopCause::none ? TaskAction::run : TaskAction::stop;
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
  launch.threads = place.threads;
  return order;
}

}  // namespace

NodeOrders node_orders(const ClusterState& state, const NodeId& id) {
  NodeOrders orders;
  orders.lease = state.limits.lease;
  const Node* node = find_node(state, id);
  if (!node) return orders;
  orders.version = node->orders_version;
  for (const JobId job_id : holders_of(*node)) {
    const Job& job = state.jobs.at(job_id);
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank)
      if (job.attempt->allocation.ranks[rank].node == id && !job.attempt->tasks[rank].over())
        orders.tasks.push_back(order_for(job, rank));
  }
  return orders;
}

}  // namespace podium
