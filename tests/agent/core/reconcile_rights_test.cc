// How long tasks may go on: by the lease, and by the fence in the shared folder.
#include <gmock/gmock.h>

#include "tests/agent/core/reconcile_fixture.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

FenceLook fence_at(std::int32_t epoch, Time read) { return {epoch, read, read, ""}; }

TEST(Reconcile, StopsTasksWhenTheLeaseRunsOut) {
  const NodeOrders orders = orders_of({kRun});
  const ProcessTable table = table_of({{kTask, kRunning}});
  const Time end = kNow + orders.lease;
  const Actions before = look(orders, table, end - 1ms);
  EXPECT_EQ(text_of(before), "");
  EXPECT_EQ(before.wake_at, end);
  const Actions after = look(orders, table, end);
  ASSERT_EQ(text_of(after), "terminate 1.1.0");
  EXPECT_EQ(std::get<TerminateTask>(after.list[0]).kill_at, end + 30s);
  EXPECT_EQ(after.wake_at, end + 30s);
}

TEST(Reconcile, ALeaseIsWatchedFromTheStart) {
  EXPECT_EQ(look(orders_of({kRun}), table_of({}), kNow).wake_at, kNow + 60s);
}

TEST(Reconcile, LeaseAllowsNoLongerGraceThanTheCoordinatorWaits) {
  const auto kill_at = [](Duration lease, Duration grace) {
    NodeOrders orders = orders_of({kRun});
    orders.lease = lease;
    orders.tasks[0].launch.grace = grace;
    const Actions actions = look(orders, table_of({{kTask, kRunning}}), kNow + lease);
    return std::get<TerminateTask>(actions.list.at(0)).kill_at - kNow;
  };
  EXPECT_EQ(kill_at(60s, 2h), 90s);
  EXPECT_EQ(kill_at(60s, 5s), 65s);
  EXPECT_EQ(kill_at(10s, 30s), 15s);
}

// The coordinator starts the job elsewhere once the lease and what follows it are over.
TEST(Reconcile, AGracePeriodOfAnyLengthEndsWithTheLease) {
  NodeOrders orders = orders_of({kStop});
  orders.tasks[0].launch.grace = 1h;
  const ProcessTable table = table_of({{kTask, terminating(kNow + 1h)}});
  const Actions before = look(orders, table, kNow + 90s - 1ms);
  EXPECT_EQ(text_of(before), "");
  EXPECT_EQ(before.wake_at, kNow + 90s);
  EXPECT_EQ(text_of(look(orders, table, kNow + 90s)), "kill 1.1.0");
}

TEST(Reconcile, TheSharedFenceLetsTasksOutliveASilentCoordinator) {
  NodeOrders orders = orders_of({kRun});
  orders.orphan = 12h;
  ProcessTable table = table_of({{kTask, kRunning}});
  const Time later = kNow + 3h;
  table.fences[{1}] = fence_at(1, later - 29s);
  EXPECT_EQ(text_of(reconcile(orders, table, later)), "");
  EXPECT_EQ(reconcile(orders, table, later).wake_at, later + 1s);
  EXPECT_EQ(text_of(reconcile(orders, table, later + 1s)), "terminate 1.1.0") << "nobody could read it";
  orders.orphan = 2h;
  EXPECT_EQ(text_of(reconcile(orders, table, later)), "terminate 1.1.0") << "that long, and no longer";
}

TEST(Reconcile, ARestartedAgentHasTheTimeThatWasLeftToLookAtTheFence) {
  NodeOrders orders = orders_of({kRun});
  orders.orphan = 12h;
  ProcessTable table = table_of({{kTask, kRunning}});
  const Time later = kNow + 3h;  // the last sync is that old
  table.processes.at(kTask).granted = later + 5s;
  EXPECT_EQ(text_of(reconcile(orders, table, later)), "");
  EXPECT_EQ(text_of(reconcile(orders, table, later + 5s)), "terminate 1.1.0");
}

// A shim ends its task by this: another job's end must not be in it.
TEST(Reconcile, AJobThatWasPassedTakesNoOthersRight) {
  NodeOrders orders = orders_of({kRun, order_of(TaskAction::start, task_id(2, 1), 1)});
  orders.orphan = 12h;
  ProcessTable table = table_of({{kTask, kRunning}, {task_id(2, 1), process_in(TaskState::running, 1)}});
  const Time later = kNow + 3h;
  table.fences[{1}] = fence_at(2, later);
  table.fences[{2}] = fence_at(1, later);
  EXPECT_EQ(right_ends(orders, table, kTask), kNow + 60s);
  EXPECT_EQ(right_ends(orders, table, task_id(2, 1)), later + 30s);
}

// It ended them when --orphan-after was over, though the coordinator was there all the time.
TEST(Reconcile, ParkedTasksGoOnWhileTheirClustersCoordinatorAnswers) {
  NodeOrders orders = orders_of({order_of(TaskAction::keep, kTask)});
  orders.orphan = 12h;
  ProcessTable table = table_of({{kTask, kRunning}});
  for (Duration passed{}; passed < 36h; passed += 1h) {
    table.last_sync = kNow + passed;
    EXPECT_EQ(text_of(reconcile(orders, table, kNow + passed + 59s)), "");
  }
}

TEST(Reconcile, AFenceThatWasNeverRaisedGrantsNothing) {
  NodeOrders orders = orders_of({kRun});
  orders.orphan = 12h;
  ProcessTable table = table_of({{kTask, kRunning}});
  table.fences[{1}] = fence_at(0, kNow + 59s);
  EXPECT_EQ(text_of(reconcile(orders, table, kNow + 60s)), "terminate 1.1.0");
}

TEST(Reconcile, AnAttemptThatWasPassedIsKilledAtOnce) {
  ProcessTable table = table_of({{kTask, kRunning}});
  table.fences[{1}] = fence_at(2, kNow);
  EXPECT_EQ(text_of(reconcile(orders_of({kRun}), table, kNow)), "kill 1.1.0");
  table.processes.clear();
  EXPECT_EQ(text_of(reconcile(orders_of({kRun}), table, kNow)), "refuse 1.1.0");
}

TEST(Reconcile, ATaskStartsOnlyBehindItsFenceAndAfterTheWaitThere) {
  NodeOrders orders = orders_of({order_of(TaskAction::start, task_id(1, 2))});
  orders.tasks[0].wait = 13s;
  ProcessTable table = table_of({});
  EXPECT_EQ(text_of(reconcile(orders, table, kNow)), "") << "nobody has looked yet";
  table.fences[{1}] = fence_at(1, kNow);
  EXPECT_EQ(text_of(reconcile(orders, table, kNow)), "") << "it stands at the older attempt";
  table.fences[{1}] = fence_at(2, kNow);
  const Actions before = reconcile(orders, table, kNow + 12s);
  EXPECT_EQ(text_of(before), "");
  EXPECT_EQ(before.wake_at, kNow + 13s);
  EXPECT_EQ(text_of(reconcile(orders, table, kNow + 13s)), "start 1.2.0");
}

TEST(Reconcile, AFenceThatCannotBeRaisedIsSaid) {
  ProcessTable table = table_of({});
  table.fences[{1}].failure = "cannot write epoch: No space left on device";
  const Actions actions = reconcile(orders_of({kRun}), table, kNow);
  EXPECT_THAT(std::get<RefuseTask>(actions.list.at(0)).exit.message, testing::HasSubstr("No space left"));
}

TEST(Reconcile, StartsNothingAfterTheLease) {
  EXPECT_EQ(text_of(look(orders_of({kRun}), table_of({}), kNow + 60s)), "");
}

TEST(Reconcile, LeaseAlsoHoldsForTasksFoundAfterARestart) {
  EXPECT_EQ(text_of(look(NodeOrders{}, table_of({{kTask, kRunning}}), kNow + 60s)), "terminate 1.1.0");
}

// Attempts came for ever that none could start.
TEST(Reconcile, AFolderOfAnotherJobIsToldApartFromOneThatCannotBeRead) {
  ProcessTable table = table_of({});
  for (const bool anothers : {false, true}) {
    FenceLook& look = table.fences[kTask.attempt.job];
    look = {};
    look.failure = "it is another job's, or cannot be read";
    look.anothers = anothers;
    const Actions actions = reconcile(orders_of({kRun}), table, kNow);
    ASSERT_EQ(text_of(actions), "refuse 1.1.0");
    EXPECT_EQ(std::get<RefuseTask>(actions.list[0]).exit.cause,
              anothers ? ExitCause::refused : ExitCause::not_started);
  }
}

}  // namespace
}  // namespace podium
