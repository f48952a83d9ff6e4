// What the worker says where its device back end cannot be used, and on a machine with or without a driver.
#include "worker/ops/device_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temp_folder.h"
#include "tests/worker/build_folder.h"

namespace podium::ops {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

auto opening(std::filesystem::path path) {
  return [path = std::move(path)] { open_device_library(path); };
}

TEST(DeviceLibrary, SaysThatACpuOnlyPackageHasNone) {
  EXPECT_THAT(opening("/nowhere/libpodium_cuda.so"),
              ThrowsMessage<DeviceUnavailable>(AllOf(HasSubstr("computes on the CPU only"),
                                                     HasSubstr("/nowhere/libpodium_cuda.so is not there"),
                                                     HasSubstr("preset cuda"))));
}

TEST(DeviceLibrary, PassesOnWhatTheLoaderMisses) {
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "libpodium_cuda.so";
  std::ofstream(path) << "no shared object";
  EXPECT_THAT(opening(path),
              ThrowsMessage<DeviceUnavailable>(AllOf(HasSubstr("cannot open the device back end"),
                                                     HasSubstr(path.string()), HasSubstr("install"))));
}

TEST(DeviceLibrary, RefusesAnotherSharedObject) {
  EXPECT_THAT(opening(test::program_folder() / "libdevice_library_without_entries.so"),
              ThrowsMessage<DeviceUnavailable>(HasSubstr("it lacks podium_device_library_build")));
}

TEST(DeviceLibrary, RefusesALibraryOfAnotherBuild) {
  EXPECT_THAT(opening(test::program_folder() / "libdevice_library_of_another_build.so"),
              ThrowsMessage<DeviceUnavailable>(AllOf(HasSubstr("is of build 0.0.0/another, this worker of "),
                                                     HasSubstr("install both from one build"))));
}

TEST(DeviceLibrary, IsLookedForBesideTheProgramAndInThePackagesFolder) {
  EXPECT_EQ(cuda_library_path().filename(), "libpodium_cuda.so");
}

#if defined(PODIUM_TEST_CUDA)
TEST(CudaLibrary, ListsDevicesOrSaysWhatIsMissing) {
  DeviceLibrary& library = open_device_library(test::cuda_library());
  if (std::filesystem::exists("/dev/nvidia0")) {
    for (const DeviceDescription& device : library.devices())
      EXPECT_GT(device.memory_bytes, 0) << device.name;
  } else {
    EXPECT_THAT([&] { library.devices(); }, ThrowsMessage<DeviceUnavailable>(AllOf(
                                                HasSubstr("driver"), HasSubstr("resources.kind: cpu"))));
  }
}
#endif

}  // namespace
}  // namespace podium::ops
