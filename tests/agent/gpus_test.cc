// An agent on a machine with GPUs, whose driver library is made up.
#include <gmock/gmock.h>

#include "tests/agent/agent_fixture.h"
#include "tests/agent/device/recording.h"

namespace podium {
namespace {

using testing::HasSubstr;

class Gpus : public AgentFixture {
 protected:
  Gpus() : machine_(recording_of("dgx-1v")) {
    change();
    play(path());
    ::setenv("LD_LIBRARY_PATH", FAKE_DRIVER_FOLDER, 1);
  }
  ~Gpus() override { ::unsetenv("LD_LIBRARY_PATH"); }

  void change() const { write_file_atomic(path(), machine_.dump()); }
  std::filesystem::path path() const { return folder_.path() / "machine.json"; }

  Device device(std::size_t index) const {
    const NodeReport report = coordinator_.report();
    return index < report.node.devices.size() ? report.node.devices[index] : Device{};
  }

  static TaskOrder run_on_gpu(TaskId id, int index, const std::string& script) {
    TaskOrder order = run(id, script);
    order.launch.device_kind = "gpu";
    order.launch.device_index = index;
    return order;
  }

  nlohmann::json machine_;
};

TEST_F(Gpus, AreReportedWithIslandsPathsAndReadings) {
  start_agent({"--machine", "dgx-a100"});
  ASSERT_TRUE(eventually([&] { return coordinator_.report().readings.size() == 8; }));
  EXPECT_EQ(device(3).model, "Tesla V100-SXM2-32GB");
  EXPECT_EQ(device(3).island, 0);
  EXPECT_EQ(device(3).paths[7], "NV1");
  EXPECT_EQ(device(8).kind, "cpu");
  EXPECT_EQ(coordinator_.report().readings[3].temperature, 34);
}

TEST_F(Gpus, AnXidIsToldAsItComes) {
  start_agent();
  ASSERT_TRUE(eventually([&] { return device(2).kind == "gpu"; }));
  EXPECT_EQ(device(2).health, "");
  machine_["xids"] = {{{"gpu", 2}, {"xid", 79}}};
  change();
  EXPECT_TRUE(eventually([&] { return !device(2).health.empty(); }));
  EXPECT_THAT(device(2).health, HasSubstr("XID 79"));
}

TEST_F(Gpus, ATaskGetsItsDeviceByUuid) {
  start_agent();
  const TaskId id = task(1);
  coordinator_.order({run_on_gpu(id, 5, "echo $CUDA_VISIBLE_DEVICES > seen")});
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  EXPECT_EQ(read_file(task_folder(id).path() / "seen"),
            machine_["gpus"][5]["uuid"].get<std::string>() + "\n");
}

TEST_F(Gpus, OneProcessThatDrivesANodeSeesAllItsDevicesAndKeepsOthersOffThem) {
  start_agent();
  TaskOrder wide = run_on_gpu(task(1), 2, "echo $CUDA_VISIBLE_DEVICES > seen; while :; do sleep 0.01; done");
  wide.launch.more_devices = {3, 4};
  const TaskOrder beside = run_on_gpu(task(2), 5, "exit 0");
  const TaskOrder within = run_on_gpu(task(3), 4, "exit 0");
  coordinator_.order({wide});
  wait_for(task(1), TaskState::running);
  kill_agent();  // the next one finds in task.json what the task drives
  start_agent();
  wait_for(task(1), TaskState::running);
  coordinator_.order({wide, beside, within});
  wait_for_exit(task(2));
  EXPECT_FALSE(reported(task(3))) << "device 4 is taken";
  std::string uuids;
  for (const int gpu : {2, 3, 4})
    uuids +=
        (gpu == 2 ? "" : ",") + machine_["gpus"][static_cast<std::size_t>(gpu)]["uuid"].get<std::string>();
  EXPECT_TRUE(eventually([&] { return read_file(task_folder(task(1)).path() / "seen") == uuids + "\n"; }));
  coordinator_.order({stop(wide), within});
  wait_for_exit(task(3));
}

TEST_F(Gpus, ADeviceWhoseMemoryIsStillHeldGetsNoTask) {
  start_agent();
  const TaskId first = task(1);
  coordinator_.order({run_on_gpu(first, 4, "exit 0")});
  wait_for_exit(first);
  machine_["gpus"][4]["processes"] = {{{"pid", 4242}, {"bytes", 12LL << 30}}};
  change();
  const TaskId second = task(2);
  const TaskId beside = task(3);
  EXPECT_TRUE(eventually([&] { return !device(4).health.empty(); }));
  EXPECT_THAT(device(4).health, HasSubstr("process 4242 (program-4242) holds 12.0 GiB"));
  coordinator_.order({run_on_gpu(second, 4, "exit 0"), run_on_gpu(beside, 5, "exit 0")});
  wait_for_exit(beside);
  EXPECT_FALSE(reported(second));
  machine_["gpus"][4]["processes"] = nlohmann::json::array();
  change();
  EXPECT_EQ(wait_for_exit(second), (TaskExit{0, 0, ""}));
  EXPECT_TRUE(eventually([&] { return device(4).health.empty(); }));
}

}  // namespace
}  // namespace podium
