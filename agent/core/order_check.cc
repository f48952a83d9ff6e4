#include "agent/core/order_check.h"

#include <algorithm>
#include <set>

namespace podium {
namespace {

using namespace std::chrono_literals;

class OrderCheck {
 public:
  explicit OrderCheck(const NodeId& node) : node_(node) {}

  Errors run(const NodeOrders& orders) && {
    require(orders.version > 0, "orders", "the version must be positive");
    require(orders.lease >= 1s, "orders", "the lease must be at least 1s");
    require(is_plain(orders.folder), "orders",
            "the jobs' folder must be a plain path below the shared folder");
    std::set<TaskId> seen;
    for (const TaskOrder& order : orders.tasks) {
      const std::string where = "task " + to_string(order.launch.task);
      require(seen.insert(order.launch.task).second, where, "it is ordered twice");
      check(order.launch, where);
    }
    return std::move(errors_);
  }

 private:
  void check(const Launch& launch, const std::string& where) {
    require(launch.task.attempt.job.value > 0, where, "the job must be positive");
    require(launch.task.attempt.number > 0, where, "the attempt must be positive");
    require(launch.world_size > 0 && launch.task.rank >= 0 && launch.task.rank < launch.world_size, where,
            "the rank must lie in [0, world_size)");
    require(launch.local_rank >= 0 && launch.local_rank < launch.local_world_size, where,
            "local_rank must lie in [0, local_world_size)");
    require(launch.node_rank >= 0 && launch.node_rank < launch.nodes, where,
            "node_rank must lie in [0, nodes)");
    require(launch.node == node_, where, "it is meant for node \"" + launch.node.value + "\"");
    require(launch.master_port >= 0 && launch.master_port <= 65535, where,
            "the master's port must be at most 65535");
    require(std::ranges::min(devices_of(launch)) >= 0 && launch.threads >= 0, where,
            "device index and threads must not be negative");
    require(launch.grace >= 0s && launch.grace <= 24h, where, "the grace period must lie between 0s and 24h");
  }

  static bool is_plain(const std::string& folder) {
    return !folder.empty() && folder.size() <= 100 && folder.front() != '/' &&
           folder.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz/") == std::string::npos;
  }

  void require(bool holds, const std::string& where, std::string message) {
    if (!holds) errors_.push_back({ErrorCode::invalid, std::move(message), where});
  }

  const NodeId& node_;
  Errors errors_;
};

}  // namespace

Errors check_orders(const NodeOrders& orders, const NodeId& node) { return OrderCheck(node).run(orders); }

}  // namespace podium
