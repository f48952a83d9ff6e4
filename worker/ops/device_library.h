// Opens a device back end, which is a shared object of its own beside the worker: one package starts on every
// machine, and a machine that cannot compute on its devices is told what it lacks. An open library stays open
// until the process ends.
#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "worker/ops/backend.h"
#include "worker/tensor/device.h"

namespace podium::ops {

// This machine cannot compute on its devices; the message says what is missing and what to do.
struct DeviceUnavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a library's entry returns.
class DeviceLibrary {
 public:
  virtual ~DeviceLibrary() = default;

  // The devices that the driver shows. DeviceUnavailable where there is no driver or no device.
  virtual std::vector<DeviceDescription> devices() = 0;
  // The device of that index, for the calling thread's work from now on; no other is touched.
  // DeviceUnavailable where there is no code for it.
  virtual std::unique_ptr<Device> open(int index) = 0;
  virtual const Backend& backend() const = 0;
};

// Worker and library must come from one build: they share C++ types.
std::string_view device_library_build();

// The names of a library's two entries, functions without parameters.
inline constexpr const char* kLibraryBuildEntry = "podium_device_library_build";  // const char* ()
inline constexpr const char* kLibraryEntry = "podium_device_library";             // DeviceLibrary* ()

// Where the worker's packages put the CUDA back end: beside the program, or in ../lib/podium of its folder.
std::filesystem::path cuda_library_path();

DeviceLibrary& open_device_library(const std::filesystem::path& path);

}  // namespace podium::ops
