// What the worker says where its device back end cannot be used, and on a machine with or without a driver.
#include "worker/ops/device_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/temp_folder.h"
#include "tests/worker/build_folder.h"

namespace podium::ops {
namespace {

using testing::AllOf;
using testing::AnyOf;
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

// Of the same version and compiler, but of other headers.
TEST(DeviceLibrary, RefusesALibraryOfAnotherBuild) {
  EXPECT_THAT(opening(test::program_folder() / "libdevice_library_of_another_build.so"),
              ThrowsMessage<DeviceUnavailable>(AllOf(HasSubstr("/0000000000000000, this worker of "),
                                                     HasSubstr("install both from one build"))));
}

TEST(DeviceLibrary, IsLookedForBesideTheProgramAndInThePackagesFolder) {
  EXPECT_EQ(cuda_library_path().filename(), "libpodium_cuda.so");
}

#if defined(PODIUM_TEST_CUDA)
TEST(CudaLibrary, ListsDevicesOrSaysWhatIsMissing) {
  DeviceLibrary& library = open_device_library(test::cuda_library());
  try {
    for (const DeviceDescription& device : library.devices()) {
      EXPECT_GT(device.memory_bytes, 0) << device.name;
      EXPECT_THAT(device.uuid, testing::StartsWith("GPU-"));
    }
  } catch (const DeviceUnavailable& reason) {
    if (std::getenv("PODIUM_TEST_GPU")) FAIL() << reason.what();  // tests/gpu/run: there is one
    EXPECT_THAT(reason.what(),
                AllOf(HasSubstr("driver"), AnyOf(HasSubstr("resources.kind: cpu"), HasSubstr("nvidia-smi"))));
  }
}

TEST(CudaLibrary, OpensTheDevice) {
  if (!std::getenv("PODIUM_TEST_GPU")) GTEST_SKIP() << "skipped: no GPU (PODIUM_TEST_GPU is not set)";
  DeviceLibrary& library = open_device_library(test::cuda_library());
  const DeviceDescription listed = library.devices().front();
  EXPECT_EQ(library.open(listed.index)->description().uuid, listed.uuid);
}
#endif

}  // namespace
}  // namespace podium::ops
