// Outputs of tasks of a real agent: collected whatever ended the task, also after the agent is killed.
#include <gmock/gmock.h>

#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TaskOutputs : public AgentFixture {
 protected:
  fs::path place(int rank = 0) const {
    return folder_.path() / "shared/jobs/1/outputs/1" / std::to_string(rank);
  }

  static TaskOrder with(TaskOrder order, std::vector<std::string> outputs) {
    order.launch.spec.outputs = std::move(outputs);
    return order;
  }
  void wait_for_event(TaskId id, const std::string& text) {
    EXPECT_TRUE(eventually([&] {
      return coordinator_.stream(id, StreamKind::events).find(text) != std::string::npos;
    })) << coordinator_.stream(id, StreamKind::events);
  }
};

TEST_F(TaskOutputs, AreCollectedFromTheTasksFolderWithoutWhatIsPodiums) {
  start_agent();
  const TaskId id = task(1);
  coordinator_.order(
      {with(run(id, "mkdir r; echo a > r/a; echo b > b; printf x >> $PODIUM_EVENTS; exit 3"), {"**"})});
  EXPECT_EQ(wait_for_exit(id).code, 3);
  coordinator_.order({});
  wait_for_event(id, "2 output(s), 4 B, are in " + place().string());
  EXPECT_THAT(coordinator_.stream(id, StreamKind::events), HasSubstr("x\n{")) << "a line of its own";
  EXPECT_EQ(read_file(place() / "r/a"), "a\n");
  EXPECT_EQ(read_file(place() / "b"), "b\n");
  EXPECT_FALSE(fs::exists(place() / "launch.json"));
  EXPECT_FALSE(fs::exists(place() / "stdout"));
  EXPECT_TRUE(eventually([&] { return !reported(id); })) << "it is forgotten then";
}

// Of a failure alone: a program that ends well has left nothing to look into.
TEST_F(TaskOutputs, TracesOfNcclAreKeptWhereATaskFailed) {
  const std::string trace = "echo t > \"$PODIUM_TASK_FOLDER/nccl_trace_rank_7\"; exit ";
  start_agent();
  coordinator_.order({run(task(1), trace + "134"), run(task(2), trace + "0")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 134);
  EXPECT_EQ(wait_for_exit(task(2)).code, 0);
  const fs::path traces = folder_.path() / "shared/jobs/1/traces/1/0";
  EXPECT_EQ(read_file(traces / "nccl_trace_rank_7"), "t\n");
  wait_for_event(task(1), "traces of NCCL's flight recorder: 1 output(s), 2 B, are in " + traces.string());
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1)) && !reported(task(2)); })) << "forgotten then";
  EXPECT_FALSE(fs::exists(folder_.path() / "shared/jobs/2/traces"));
}

TEST_F(TaskOutputs, OfATaskThatIsStoppedAreCollected) {
  start_agent();
  const TaskOrder order = with(run(task(1), "echo a > a; echo r > ready; sleep 1000"), {"a"});
  coordinator_.order({order});
  ASSERT_TRUE(eventually([&] { return fs::exists(task_folder(task(1)).path() / "ready"); }));
  coordinator_.order({stop(order)});
  wait_for_exit(task(1));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return fs::exists(place() / "a"); }));
}

TEST_F(TaskOutputs, OfAWorkdirAreCollectedOncePerNode) {
  start_agent();
  fs::create_directories(data() / "project");
  write_file_atomic(data() / "project/model.pt", "weights");
  std::vector<TaskOrder> orders;
  for (int rank = 0; rank < 2; ++rank) {
    TaskOrder order = with(run(task(1, 1, rank), "true"), {"*.pt"});
    order.launch.world_size = order.launch.local_world_size = 2;
    order.launch.local_rank = order.launch.device_index = rank;
    order.launch.spec.workdir = data() / "project";
    orders.push_back(order);
  }
  coordinator_.order(orders);
  wait_for_exit(task(1, 1, 0));
  wait_for_exit(task(1, 1, 1));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1, 1, 0)) && !reported(task(1, 1, 1)); }));
  EXPECT_EQ(read_file(place(0) / "model.pt"), "weights");
  EXPECT_TRUE(fs::is_empty(place(1))) << "collected, and nothing";
}

TEST_F(TaskOutputs, AreCollectedThoughTheAgentIsKilledAsTheTaskEnds) {
  start_agent();
  const TaskId id = task(1);
  const fs::path folder = task_folder(id).path();
  const std::string script =
      "i=0; while [ $i -lt 500 ]; do echo $i > out-$i; i=$((i+1)); done; until test -e go; do sleep 0.01; "
      "done";
  coordinator_.order({with(run(id, script), {"out-*"})});
  ASSERT_TRUE(eventually([&] { return fs::exists(folder / "out-499"); }));
  wait_for(id, TaskState::running);
  kill_agent();
  write_file_atomic(folder / "go", "");
  for (int i = 0; i < 5; ++i) {
    start_agent();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * i));
    kill_agent();
    if (!fs::exists(place())) continue;
    EXPECT_EQ(std::distance(fs::directory_iterator(place()), fs::directory_iterator()), 500)
        << "whole or absent";
  }
  start_agent();
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  coordinator_.order({});
  wait_for_event(id, "500 output(s)");
  EXPECT_TRUE(eventually([&] { return !reported(id); }));
  EXPECT_EQ(read_file(place() / "out-499"), "499\n");
}

TEST_F(TaskOutputs, BeyondTheLimitStayWhereTheyAreAndAreToldOf) {
  start_agent({"--outputs-limit", "10B"});
  const TaskId id = task(1);
  coordinator_.order({with(run(id, "echo 0123456789 > a"), {"a"})});
  wait_for_exit(id);
  wait_for_event(id, "its outputs are not collected: they have more than 10 B");
  EXPECT_FALSE(fs::exists(place()));
}

}  // namespace
}  // namespace podium
