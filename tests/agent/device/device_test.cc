#include <gmock/gmock.h>

#include <cstdlib>

#include "agent/device/artificial_devices.h"
#include "agent/device/cpu_slots.h"
#include "agent/device/nvml_probe.h"
#include "common/base/file.h"
#include "tests/agent/device/recording.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::HasSubstr;

class NvmlProbeTest : public testing::Test {
 protected:
  void SetUp() override { play("h200-lost"); }
};

TEST_F(NvmlProbeTest, ReadsTheInventoryThroughTheDriversLibrary) {
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(found.devices[0].kind, "gpu");
  EXPECT_EQ(found.devices[0].model, "NVIDIA H200");
  EXPECT_EQ(found.devices[0].uuid, "GPU-6ab2e8a1-5f04-7c41-a3a0-6c2c6ad1b3c5");
  EXPECT_EQ(found.devices[0].memory_bytes, 150'754'820'096);
  EXPECT_EQ(found.devices[0].health, "");
  EXPECT_FALSE(found.devices[0].artificial);
  EXPECT_EQ(found.notes.at(0), "2 NVIDIA GPU(s), driver 550.90.07");
}

TEST_F(NvmlProbeTest, ListsALostGpuAsUnhealthy) {
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_THAT(found.devices[1].health, HasSubstr("GPU is lost"));
}

TEST_F(NvmlProbeTest, SaysWhenThereIsNoDriver) {
  const Discovery found = NvmlProbe("libpodium-no-such-driver.so.1").discover();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_THAT(found.notes.at(0), HasSubstr("no NVIDIA GPUs: libpodium-no-such-driver.so.1"));
}

TEST_F(NvmlProbeTest, SaysWhenTheDriverDoesNotAnswer) {
  ::setenv("FAKE_NVML_INIT", "9", 1);
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  ::unsetenv("FAKE_NVML_INIT");
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.notes.at(0), "no NVIDIA GPUs: nvmlInit: Driver Not Loaded");
}

// nvidia-smi topo -m of a DGX-1V: a hybrid cube mesh, in which no GPU reaches all others directly.
TEST_F(NvmlProbeTest, FindsTheHybridCubeMeshOfADgx1) {
  play("dgx-1v");
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  const std::vector<std::vector<std::string>> expected{
      {"X", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS"},
      {"NV1", "X", "NV2", "NV1", "SYS", "NV2", "SYS", "SYS"},
      {"NV1", "NV2", "X", "NV2", "SYS", "SYS", "NV1", "SYS"},
      {"NV2", "NV1", "NV2", "X", "SYS", "SYS", "SYS", "NV1"},
      {"NV2", "SYS", "SYS", "SYS", "X", "NV1", "NV1", "NV2"},
      {"SYS", "NV2", "SYS", "SYS", "NV1", "X", "NV2", "NV1"},
      {"SYS", "SYS", "NV1", "SYS", "NV1", "NV2", "X", "NV2"},
      {"SYS", "SYS", "SYS", "NV1", "NV2", "NV1", "NV2", "X"}};
  ASSERT_EQ(found.devices.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(found.devices[i].paths, expected[i]) << i;
    EXPECT_EQ(found.devices[i].island, 0) << "all reach each other without leaving NVLink";
    EXPECT_EQ(found.devices[i].numa, i < 4 ? 0 : 1);
  }
}

TEST_F(NvmlProbeTest, FindsThatSwitchesJoinAllGpusOfADgxH100) {
  play("dgx-h100");
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  ASSERT_EQ(found.devices.size(), 8U);
  for (const Device& device : found.devices) EXPECT_EQ(device.island, 0);
  EXPECT_EQ(found.devices[1].paths,
            (std::vector<std::string>{"NV18", "X", "NV18", "NV18", "NV18", "NV18", "NV18", "NV18"}));
}

TEST_F(NvmlProbeTest, FindsNoIslandsWhereThereIsNoNvlink) {
  play("pcie");
  const Discovery found = NvmlProbe(FAKE_NVML).discover();
  ASSERT_EQ(found.devices.size(), 4U);
  for (const Device& device : found.devices) EXPECT_EQ(device.island, -1);
  EXPECT_EQ(found.devices[0].paths, (std::vector<std::string>{"X", "PXB", "SYS", "SYS"}));
  EXPECT_EQ(found.devices[3].numa, 1);
}

TEST_F(NvmlProbeTest, AsksTheKernelForTheNumaNodeThatTheDriverDoesNotTell) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "0000:1b:00.0");
  write_file_atomic(folder.path() / "0000:1b:00.0" / "numa_node", "3\n");
  EXPECT_EQ(NvmlProbe(FAKE_NVML, folder.path()).discover().devices.at(0).numa, 3);
}

TEST(CpuSlots, HaveTheThreadsTheyAreGiven) {
  const Discovery found = CpuSlots(3, 2).discover();
  ASSERT_EQ(found.devices.size(), 3U);
  EXPECT_EQ(found.devices[0].kind, "cpu");
  EXPECT_EQ(found.devices[0].threads, 2);
  EXPECT_FALSE(found.devices[0].model.empty());
}

TEST(CpuSlots, GiveEachAThreadEvenIfThereAreTooFew) {
  EXPECT_EQ(CpuSlots(5000).discover().devices.at(4999).threads, 1);
}

TEST(CpuSlots, ModelComesFromCpuinfo) {
  EXPECT_EQ(cpu_model("processor\t: 0\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) 8481C\n"),
            "Intel(R) Xeon(R) 8481C");
  EXPECT_EQ(cpu_model("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"), "POWER9, altivec supported");
  EXPECT_EQ(cpu_model("processor\t: 0\nBogoMIPS\t: 50.00\nmodel name\t:\n"), "CPU");
}

TEST(FindDevices, NumbersAllKindsInOneRow) {
  play("h200-lost");
  DeviceProbes probes;
  probes.push_back(std::make_unique<NvmlProbe>(FAKE_NVML));
  probes.push_back(std::make_unique<ArtificialDevices>(1));
  probes.push_back(std::make_unique<CpuSlots>(1, 4));
  const Discovery found = find_devices(probes);
  ASSERT_EQ(found.devices.size(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found.devices[static_cast<std::size_t>(i)].index, i);
  EXPECT_TRUE(found.devices[2].artificial);
  EXPECT_EQ(found.devices[2].kind, "gpu");
  EXPECT_EQ(found.devices[3].kind, "cpu");
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("made up")));
}

}  // namespace
}  // namespace podium
