// What orders ask for, and what must come before it.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/agent/core/reconcile_fixture.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

struct Case {
  const char* name;
  std::vector<TaskOrder> orders;
  std::map<TaskId, Process> processes;
  const char* expected;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"nothing", {}, {}, ""},
      {"starts what is ordered", {kRun}, {}, "start 1.1.0"},
      {"leaves what runs", {kRun}, {{kTask, kRunning}}, ""},
      {"never starts what has exited", {kRun}, {{kTask, exited(true)}}, ""},
      {"asks before it kills", {kStop}, {{kTask, kRunning}}, "terminate 1.1.0"},
      {"asks a task that is just starting",
       {kStop},
       {{kTask, process_in(TaskState::starting)}},
       "terminate 1.1.0"},
      {"waits out the grace period", {kStop}, {{kTask, terminating(kNow + 1ms)}}, ""},
      {"kills after it", {kStop}, {{kTask, terminating(kNow)}}, "kill 1.1.0"},
      {"goes on stopping when told to run again", {kRun}, {{kTask, terminating(kNow)}}, "kill 1.1.0"},
      {"kills what the orders dropped", {}, {{kTask, kRunning}}, "kill 1.1.0"},
      {"kills it though it was asked to leave", {}, {{kTask, terminating(kNow + 10s)}}, "kill 1.1.0"},
      {"keeps an exit the coordinator has not dropped", {kRun}, {{kTask, exited(false)}}, ""},
      {"keeps what is not delivered", {}, {{kTask, exited(false)}}, ""},
      {"forgets what is dropped and delivered", {}, {{kTask, exited(true)}}, "forget 1.1.0"},
      {"answers a stop for what it never had", {kStop}, {}, "refuse 1.1.0"},
      {"fences by attempt",
       {order_of(TaskAction::start, task_id(1, 2))},
       {{task_id(1, 3), kRunning}},
       "kill 1.3.0; refuse 1.2.0"},
      {"fences by an exited attempt too",
       {order_of(TaskAction::start, task_id(1, 2)), order_of(TaskAction::start, task_id(1, 3))},
       {{task_id(1, 3), exited(false)}},
       "refuse 1.2.0"},
      {"fences attempts ordered together",
       {order_of(TaskAction::start, task_id(1, 1)), order_of(TaskAction::start, task_id(1, 2))},
       {},
       "refuse 1.1.0; start 1.2.0"},
      {"waits for the older attempt to be gone",
       {order_of(TaskAction::start, task_id(1, 2), 1)},
       {{kTask, kRunning}},
       "kill 1.1.0"},
      {"starts the next attempt after it",
       {order_of(TaskAction::start, task_id(1, 2))},
       {{kTask, exited(true)}},
       "forget 1.1.0; start 1.2.0"},
      {"waits for the device",
       {order_of(TaskAction::start, task_id(2, 1), 0)},
       {{kTask, kRunning}},
       "kill 1.1.0"},
      {"uses another device at once",
       {kRun, order_of(TaskAction::start, task_id(2, 1), 1)},
       {{kTask, kRunning}},
       "start 2.1.0"},
      {"gives a device once",
       {order_of(TaskAction::start, task_id(1, 1)), order_of(TaskAction::start, task_id(2, 1))},
       {},
       "start 1.1.0"},
      {"starts a gang whole",
       {order_of(TaskAction::start, task_id(1, 1, 0), 0), order_of(TaskAction::start, task_id(1, 1, 1), 1)},
       {},
       "start 1.1.0; start 1.1.1"},
  };
  return all;
}

TEST(Reconcile, Cases) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(text_of(look(orders_of(one.orders), table_of(one.processes), kNow)), one.expected);
  }
}

TEST(Reconcile, NeverStartsAnAttemptItHasForgotten) {
  ProcessTable table = table_of({});
  table.forgotten[{1}] = 2;
  const auto ordered = [&](int attempt) {
    return text_of(look(orders_of({order_of(TaskAction::start, task_id(1, attempt))}), table, kNow));
  };
  EXPECT_EQ(ordered(1), "refuse 1.1.0");
  EXPECT_EQ(ordered(2), "refuse 1.2.0");
  EXPECT_EQ(ordered(3), "start 1.3.0");
}

TEST(Reconcile, KeepsItsTasksUntilItHasHeardTheFirstOrders) {
  EXPECT_EQ(text_of(look(NodeOrders{}, table_of({{kTask, kRunning}, {task_id(2, 1), exited(true)}}), kNow)),
            "");
}

TEST(Reconcile, StopGivesTheOrdersGracePeriod) {
  TaskOrder stop = kStop;
  stop.launch.grace = 7s;
  const Actions actions = look(orders_of({stop}), table_of({{kTask, kRunning}}), kNow);
  ASSERT_EQ(text_of(actions), "terminate 1.1.0");
  EXPECT_EQ(std::get<TerminateTask>(actions.list[0]).kill_at, kNow + 7s);
  EXPECT_EQ(actions.wake_at, kNow + 7s);
}

// A restarted agent tells it again, and must not begin the period anew.
TEST(Reconcile, NoLaterAgentMakesTheGracePeriodLonger) {
  Process told = kRunning;
  told.kill_by = kNow + 3s;
  const Actions actions = look(orders_of({kStop}), table_of({{kTask, told}}), kNow);
  EXPECT_EQ(std::get<TerminateTask>(actions.list.at(0)).kill_at, kNow + 3s);
  told.kill_by = kNow + 31s;
  const Actions sooner = look(orders_of({kStop}), table_of({{kTask, told}}), kNow);
  EXPECT_EQ(std::get<TerminateTask>(sooner.list.at(0)).kill_at, kNow + 30s);
  const Actions left = look(orders_of({kRun}), table_of({{kTask, told}}), kNow + 60s);
  EXPECT_EQ(std::get<TerminateTask>(left.list.at(0)).kill_at, kNow + 31s) << "at the end of the lease";
}

// A job with ten minutes until its walltime is cancelled.
TEST(Reconcile, OrdersMayMakeTheGracePeriodShorter) {
  TaskOrder stop = kStop;
  stop.launch.grace = 5s;
  const Actions actions = look(orders_of({stop}), table_of({{kTask, terminating(kNow + 50s)}}), kNow);
  ASSERT_EQ(text_of(actions), "terminate 1.1.0");
  EXPECT_EQ(std::get<TerminateTask>(actions.list[0]).kill_at, kNow + 5s);
  stop.launch.grace = 2h;
  EXPECT_EQ(text_of(look(orders_of({stop}), table_of({{kTask, terminating(kNow + 50s)}}), kNow)), "");
}

TEST(Reconcile, RefusalsSayHowTheTaskEnded) {
  const Actions actions = look(orders_of({kStop}), table_of({}), kNow);
  EXPECT_EQ(std::get<RefuseTask>(actions.list.at(0)).exit,
            (TaskExit{0, SIGTERM, "stopped before it was started", ExitCause::ordered}));
}

// A home that is gone, or another agent of the same name: the task may run already.
TEST(Reconcile, ATaskThatWasReportedOnceIsNeverStarted) {
  const TaskOrder keep = order_of(TaskAction::keep, kTask);
  const Actions actions = reconcile(orders_of({keep}), table_of({}), kNow);
  ASSERT_EQ(text_of(actions), "refuse 1.1.0");
  EXPECT_EQ(std::get<RefuseTask>(actions.list[0]).exit.cause, ExitCause::no_record);
  EXPECT_EQ(text_of(reconcile(orders_of({keep}), table_of({{kTask, kRunning}}), kNow)), "");
}

TEST(Reconcile, ATaskThatEndedHereAndWasForgottenIsNotBlamedOnALostHome) {
  ProcessTable table = table_of({});
  table.forgotten[{1}] = 1;
  const Actions actions = reconcile(orders_of({order_of(TaskAction::keep, kTask)}), table, kNow);
  ASSERT_EQ(text_of(actions), "refuse 1.1.0");
  EXPECT_EQ(std::get<RefuseTask>(actions.list[0]).exit,
            (TaskExit{0, SIGKILL, "this or a later attempt has ended here before", ExitCause::no_record}));
}

TEST(Reconcile, SaysWhyATaskIsToldToLeave) {
  const auto cause = [](const std::vector<TaskOrder>& orders, const ProcessTable& table, Time now) {
    return std::get<TerminateTask>(reconcile(orders_of(orders), table, now).list.at(0)).cause;
  };
  ProcessTable table = table_of({{kTask, kRunning}});
  EXPECT_EQ(cause({kStop}, table, kNow), ExitCause::ordered);
  EXPECT_EQ(cause({kRun}, table, kNow + 61s), ExitCause::lease);
  table.leaving = true;
  EXPECT_EQ(cause({kRun}, table, kNow), ExitCause::agent_stopped);
}

TEST(Reconcile, ATaskStartsOnceItsInputsAreThereAndEndsWhereItCannotHaveThem) {
  TaskOrder order = kRun;
  order.launch.spec.inputs = {{"corpus", "corpus", ""}};
  const NodeOrders orders = orders_of({order});
  ProcessTable table = table_of({});
  EXPECT_EQ(text_of(look(orders, table, kNow)), "");
  table.inputs[kTask] = std::nullopt;
  EXPECT_EQ(text_of(look(orders, table, kNow)), "start 1.1.0");
  const TaskExit failure{0, 0, "no corpus", ExitCause::cannot_run};
  table.inputs[kTask] = failure;
  const Actions actions = look(orders, table, kNow);
  ASSERT_EQ(text_of(actions), "refuse 1.1.0");
  EXPECT_EQ(std::get<RefuseTask>(actions.list[0]).exit, failure);
}

TEST(Reconcile, AnAgentThatLeavesStartsNothing) {
  ProcessTable table = table_of({});
  table.leaving = true;
  const Actions actions = reconcile(orders_of({kRun}), table, kNow);
  ASSERT_EQ(text_of(actions), "refuse 1.1.0");
  EXPECT_EQ(std::get<RefuseTask>(actions.list[0]).exit.cause, ExitCause::not_started);
}

// A job that stops its own shim kept its device for ever.
TEST(Reconcile, AShimThatDoesNotKillIsPassedOver) {
  Process process = terminating(kNow);
  const Actions kill = reconcile(orders_of({kStop}), table_of({{kTask, process}}), kNow);
  ASSERT_EQ(text_of(kill), "kill 1.1.0");
  process.stopping = Stopping::killing;
  process.next_at = std::get<KillTask>(kill.list[0]).destroy_at;
  EXPECT_GT(process.next_at, kNow);
  const Actions wait = reconcile(orders_of({kStop}), table_of({{kTask, process}}), kNow);
  EXPECT_EQ(text_of(wait), "");
  EXPECT_EQ(wait.wake_at, process.next_at);
  EXPECT_EQ(text_of(reconcile(orders_of({kStop}), table_of({{kTask, process}}), process.next_at)),
            "destroy 1.1.0");
  EXPECT_EQ(text_of(reconcile(orders_of({}), table_of({{kTask, process}}), process.next_at)),
            "destroy 1.1.0");
}

TEST(Reconcile, AnOccupiedGpuWaitsUntilItIsFree) {
  TaskOrder order = order_of(TaskAction::start, task_id(1, 1), 3);
  ProcessTable table = table_of({});
  table.occupied_gpus = {3};
  EXPECT_EQ(text_of(look(orders_of({order}), table, kNow)), "start 1.1.0") << "it is not about CPU slots";
  order.launch.device_kind = "gpu";
  EXPECT_EQ(text_of(look(orders_of({order}), table, kNow)), "");
  table.occupied_gpus = {2};
  EXPECT_EQ(text_of(look(orders_of({order}), table, kNow)), "start 1.1.0");
}

TEST(Reconcile, AProcessThatDrivesANodeWaitsForAllItsDevicesAndHoldsThem) {
  TaskOrder node_wide = order_of(TaskAction::start, task_id(1, 1));
  node_wide.launch.more_devices = {1, 2};
  const TaskOrder single = order_of(TaskAction::start, task_id(2, 1), 2);
  const auto actions = [&](const std::vector<TaskOrder>& orders, const ProcessTable& table) {
    return text_of(look(orders_of(orders), table, kNow));
  };
  EXPECT_EQ(actions({node_wide}, table_of({})), "start 1.1.0");
  EXPECT_EQ(actions({node_wide, single}, table_of({})), "start 1.1.0") << "device 2 is taken in this run";
  EXPECT_EQ(actions({single, node_wide}, table_of({{task_id(2, 1), process_in(TaskState::running, 2)}})), "");
  Process wide = process_in(TaskState::running);
  wide.more_devices = {1, 2};
  EXPECT_EQ(actions({node_wide, single}, table_of({{task_id(1, 1), wide}})), "");
  ASSERT_EQ(look(orders_of({node_wide}), table_of({}), kNow).list.size(), 1u);
  EXPECT_EQ(std::get<StartTask>(look(orders_of({node_wide}), table_of({}), kNow).list[0]).visible_devices,
            (std::vector{0, 1, 2}));
}

TEST(Reconcile, StartsSeeTheDevicesOfTheirNodeByLocalRank) {
  TaskOrder first = order_of(TaskAction::start, task_id(1, 1, 0), 5);
  TaskOrder second = order_of(TaskAction::start, task_id(1, 1, 1), 2);
  second.launch.local_rank = 1;
  const Actions actions = look(orders_of({second, first}), table_of({}), kNow);
  ASSERT_EQ(actions.list.size(), 2U);
  EXPECT_THAT(std::get<StartTask>(actions.list[0]).visible_devices, testing::ElementsAre(5, 2));
}

}  // namespace
}  // namespace podium
