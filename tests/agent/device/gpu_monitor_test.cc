#include "agent/device/gpu_monitor.h"

#include <gmock/gmock.h>

#include "tests/agent/device/recording.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// A machine that can be changed while it is watched.
class GpuMonitorTest : public testing::Test {
 protected:
  void use(const std::string& name) {
    machine_ = recording_of(name);
    change();
    play(path());
  }
  void change() { write_file_atomic(path(), machine_.dump()); }
  std::filesystem::path path() const { return folder_.path() / "machine.json"; }

  TempFolder folder_;
  nlohmann::json machine_;
};

TEST_F(GpuMonitorTest, ReadsWhatTheDevicesMeasure) {
  use("dgx-h100");
  const std::vector<GpuState> states = GpuMonitor(FAKE_NVML).look();
  ASSERT_EQ(states.size(), 8U);
  const DeviceReading& reading = states[5].reading;
  EXPECT_EQ(reading.device, 5);
  EXPECT_EQ(reading.utilisation, 0.97);
  EXPECT_EQ(reading.memory_used, 1100.0 * (1 << 20));
  EXPECT_EQ(reading.power, 612.5);
  EXPECT_EQ(reading.temperature, 54);
  EXPECT_EQ(reading.ecc_corrected, 3);
  EXPECT_EQ(reading.ecc_uncorrected, 0);
  EXPECT_EQ(reading.xid_errors, 0);
  EXPECT_FALSE(reading.last_xid);
  EXPECT_EQ(states[5].health, "") << "corrected errors are no fault";
}

TEST_F(GpuMonitorTest, LeavesOutWhatADeviceDoesNotMeasure) {
  use("pcie");
  const GpuState state = GpuMonitor(FAKE_NVML).look().at(0);
  EXPECT_FALSE(state.reading.ecc_uncorrected);
  EXPECT_EQ(state.reading.utilisation, 0.12);
  EXPECT_EQ(state.health, "");
}

TEST_F(GpuMonitorTest, SeesFaultsAsTheyCome) {
  use("dgx-h100");
  GpuMonitor monitor(FAKE_NVML);
  machine_["gpus"][0]["ecc"] = {3, 1};
  machine_["gpus"][1]["rows"] = {0, 1, 1, 0};
  machine_["gpus"][2]["rows"] = {0, 8, 0, 1};
  machine_["gpus"][3]["error"] = 15;
  machine_["gpus"][4]["error"] = 16;
  change();
  const std::vector<GpuState> states = monitor.look();
  EXPECT_THAT(states[0].health, HasSubstr("1 uncorrected memory error"));
  EXPECT_THAT(states[1].health, HasSubstr("a memory repair waits for a reset"));
  EXPECT_THAT(states[2].health, HasSubstr("cannot be repaired"));
  EXPECT_THAT(states[3].health, HasSubstr("GPU is lost"));
  EXPECT_THAT(states[4].health, HasSubstr("the driver asks for a reset"));
  EXPECT_EQ(states[5].health, "");
  machine_ = recording_of("dgx-h100");
  change();
  for (const GpuState& state : monitor.look()) EXPECT_EQ(state.health, "");
}

TEST_F(GpuMonitorTest, SeesPagesThatWaitForRetirement) {
  use("dgx-1v");
  machine_["gpus"][6]["retirement_pending"] = 1;
  change();
  EXPECT_THAT(GpuMonitor(FAKE_NVML).look().at(6).health, HasSubstr("a memory repair waits for a reset"));
}

TEST_F(GpuMonitorTest, KeepsJobsFromAGpuThatIsCutIntoInstances) {
  use("dgx-h100");
  GpuMonitor monitor(FAKE_NVML);
  EXPECT_EQ(monitor.look()[2].health, "");
  machine_["gpus"][2]["mig"] = 1;
  change();
  EXPECT_THAT(monitor.look()[2].health, HasSubstr("nvidia-smi -i 2 -mig 0"));
  machine_["gpus"][2]["mig"] = 0;
  change();
  EXPECT_EQ(monitor.look()[2].health, "");
}

TEST_F(GpuMonitorTest, HearsOfXids) {
  use("dgx-h100");
  GpuMonitor monitor(FAKE_NVML);
  EXPECT_FALSE(monitor.wait_for_xid(1ms));
  machine_["xids"] = {{{"gpu", 2}, {"xid", 74}}, {{"gpu", 2}, {"xid", 31}}, {{"gpu", 6}, {"xid", 13}}};
  change();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(monitor.wait_for_xid(1ms));
  EXPECT_FALSE(monitor.wait_for_xid(1ms));
  const std::vector<GpuState> states = monitor.look();
  EXPECT_THAT(states[2].health, HasSubstr("XID 74")) << "a program's fault does not hide it";
  EXPECT_EQ(states[2].reading.xid_errors, 2);
  EXPECT_EQ(states[2].reading.last_xid, 31);
  EXPECT_EQ(states[6].health, "") << "XID 13 is a program's fault";
  EXPECT_EQ(states[6].reading.xid_errors, 1);
}

TEST_F(GpuMonitorTest, NamesWhoHoldsMemory) {
  use("pcie");
  GpuMonitor monitor(FAKE_NVML);
  machine_["gpus"][1]["processes"] = nlohmann::json::array();
  for (int pid = 100; pid < 140; ++pid)
    machine_["gpus"][1]["processes"].push_back({{"pid", pid}, {"bytes", 1 << 20}});
  machine_["gpus"][2]["processes"] = {{{"pid", 7}, {"bytes", ~0ULL}}};
  change();
  const std::vector<GpuState> states = monitor.look();
  EXPECT_THAT(states[0].holders, IsEmpty());
  ASSERT_EQ(states[1].holders.size(), 40U) << "more than fit at first";
  EXPECT_EQ(states[1].holders[39], (MemoryHolder{139, "program-139", 1 << 20}));
  EXPECT_EQ(states[2].holders.at(0).bytes, 0) << "not told";
}

}  // namespace
}  // namespace podium
