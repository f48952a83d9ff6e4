#include "agent/core/order_check.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "tests/agent/core/orders.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

TEST(CheckOrders, SoundOnesPass) {
  EXPECT_TRUE(check_orders(orders_of({order_of(TaskAction::start, task_id(1, 1))}), {"node-1"}).empty());
}

TEST(CheckOrders, NamesWhatIsWrong) {
  struct Case {
    std::function<void(NodeOrders&)> spoil;
    const char* complaint;
  };
  const std::vector<Case> cases{
      {[](NodeOrders& o) { o.version = 0; }, "version must be positive"},
      {[](NodeOrders& o) { o.lease = 0ms; }, "lease"},
      {[](NodeOrders& o) { o.tasks.push_back(o.tasks[0]); }, "ordered twice"},
      {[](NodeOrders& o) { o.tasks[0].launch.task.attempt.job.value = -1; }, "job must be positive"},
      {[](NodeOrders& o) { o.tasks[0].launch.task.attempt.number = 0; }, "attempt must be positive"},
      {[](NodeOrders& o) { o.tasks[0].launch.task.rank = 9; }, "rank must lie in [0, world_size)"},
      {[](NodeOrders& o) { o.tasks[0].launch.local_rank = 1; }, "local_rank"},
      {[](NodeOrders& o) { o.tasks[0].launch.node_rank = 1; }, "node_rank"},
      {[](NodeOrders& o) { o.tasks[0].launch.node.value = "other"; }, "meant for node \"other\""},
      {[](NodeOrders& o) { o.tasks[0].launch.master_port = 70'000; }, "port"},
      {[](NodeOrders& o) { o.tasks[0].launch.device_index = -1; }, "device index"},
      {[](NodeOrders& o) { o.tasks[0].launch.grace = 25h; }, "grace period"},
  };
  for (const Case& one : cases) {
    NodeOrders orders = orders_of({order_of(TaskAction::start, task_id(1, 1))});
    one.spoil(orders);
    EXPECT_THAT(describe(check_orders(orders, {"node-1"})), testing::HasSubstr(one.complaint));
  }
}

TEST(CheckOrders, CollectsEveryProblem) {
  NodeOrders orders = orders_of({order_of(TaskAction::start, task_id(0, 0))});
  orders.version = -1;
  EXPECT_EQ(check_orders(orders, {"node-1"}).size(), 3U);
}

}  // namespace
}  // namespace podium
