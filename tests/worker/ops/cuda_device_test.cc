// What a rank takes of a node's devices before it computes on one.
#include "worker/ops/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include "tests/cuda_shim/devices.h"

namespace podium::test {
namespace {

// A context is half a gigabyte of a GPU's memory; eight ranks must not make eight on each of eight.
TEST(CudaDevices, AreListedWithoutAContextAndOpenedWithOneOnTheirOwn) {
  shim::devices_shown = 8;
  shim::contexts_made = 0;
  const std::vector<DeviceDescription> devices = ops::cuda::visible_devices();
  EXPECT_EQ(devices.size(), 8U);
  EXPECT_EQ(shim::contexts_made, 0U);
  const std::unique_ptr<Device> opened = ops::cuda::open_device(devices[5].index);
  EXPECT_EQ(opened->description().index, 5);
  opened->make_stream()->synchronise();
  EXPECT_EQ(shim::contexts_made, 1U << 5);
  shim::devices_shown = 1;
}

}  // namespace
}  // namespace podium::test
