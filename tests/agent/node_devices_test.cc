#include "agent/node_devices.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NodeDevicesTest : public testing::Test {
 protected:
  NodeDevicesTest() : devices_(two_gpus()) {
    devices_.set_watch([this] { return ++requests_; });
  }

  static std::vector<Device> two_gpus() {
    std::vector<Device> devices(4);
    for (int i = 0; i < 4; ++i) devices[static_cast<std::size_t>(i)].index = i;
    devices[0].kind = devices[1].kind = devices[2].kind = "gpu";
    devices[2].artificial = true;
    return devices;
  }

  // Of the two real GPUs, on the first of which these processes are.
  GpuLook look(std::vector<int> pids, std::string health = "") const {
    GpuLook look{.request = requests_, .gpus = {{.index = 0, .health = std::move(health)}, {.index = 1}}};
    for (const int pid : pids) look.gpus[0].holders.push_back({pid, "python3", 3LL << 29});
    return look;
  }

  std::string health() const { return devices_.list()[0].health; }

  std::uint64_t requests_ = 0;
  NodeDevices devices_;
};

TEST_F(NodeDevicesTest, NoGpuIsFreeBeforeItWasSeen) {
  EXPECT_THAT(devices_.occupied(), ElementsAre(0, 1)) << "made-up ones and CPU slots need no look";
  EXPECT_FALSE(devices_.take(look({}), {}));
  EXPECT_THAT(devices_.occupied(), IsEmpty());
}

TEST_F(NodeDevicesTest, ADeviceThatATaskLeftIsFreeOnceALaterLookFindsItSo) {
  devices_.take(look({}), {});
  const GpuLook begun_before = look({});
  devices_.left("gpu", 0);
  devices_.left("cpu", 3);
  EXPECT_THAT(devices_.occupied(), ElementsAre(0));
  devices_.take(begun_before, {});
  EXPECT_THAT(devices_.occupied(), ElementsAre(0)) << "it may not yet have seen the task's memory";
  devices_.take(look({}), {});
  EXPECT_THAT(devices_.occupied(), IsEmpty());
}

TEST_F(NodeDevicesTest, AStrangersProcessKeepsADeviceForAsLongAsItHoldsMemory) {
  devices_.take(look({}), {});
  devices_.left("gpu", 0);
  const std::uint64_t before = requests_;
  EXPECT_FALSE(devices_.take(look({4242}), {})) << "it may be about to end";
  EXPECT_THAT(devices_.occupied(), ElementsAre(0));
  EXPECT_GT(requests_, before) << "and so it is looked at again soon";
  EXPECT_TRUE(devices_.take(look({4242}), {}));
  EXPECT_EQ(health(),
            "process 4242 (python3) holds 1.5 GiB of its memory and belongs to no task here: end it");
  EXPECT_FALSE(devices_.take(look({4242}), {})) << "nothing new";
  EXPECT_TRUE(devices_.take(look({}), {}));
  EXPECT_EQ(health(), "");
  EXPECT_THAT(devices_.occupied(), IsEmpty());
}

TEST_F(NodeDevicesTest, ATasksOwnProcessesAreNoStrangers) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(devices_.take(look({4242}), {0}));
  EXPECT_THAT(devices_.occupied(), IsEmpty());
}

TEST_F(NodeDevicesTest, AFaultOfTheDeviceGoesBeforeWhoHoldsIt) {
  devices_.take(look({7}), {});
  EXPECT_TRUE(devices_.take(look({7}, "XID 79"), {}));
  EXPECT_EQ(health(), "XID 79");
  EXPECT_TRUE(devices_.take(look({7}), {}));
  EXPECT_THAT(health(), HasSubstr("process 7"));
}

TEST_F(NodeDevicesTest, ReadingsAreThoseOfTheLastLook) {
  GpuLook seen = look({});
  seen.gpus[1].reading = {.device = 1, .temperature = 61};
  devices_.take(seen, {});
  ASSERT_EQ(devices_.readings().size(), 2U);
  EXPECT_EQ(devices_.readings()[1].temperature, 61);
}

}  // namespace
}  // namespace podium
