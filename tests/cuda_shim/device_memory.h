// Memory that cudaMalloc hands out. As on a machine with a GPU the host must not touch it: reading or writing
// it outside of a kernel or a copy is a segmentation fault.
#pragma once

#include <cstddef>

namespace podium::shim {

void* allocate_device_memory(std::size_t bytes);  // nullptr where there is none left; begins as NaNs
void free_device_memory(void* memory);
bool is_device_memory(const void* address);

// As long as this lives nothing larger can be allocated.
class FullDevice {
 public:
  explicit FullDevice(std::size_t largest);
  ~FullDevice();
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;
};

// What stands in for the device opens its memory while it works; scopes may nest, also on several threads.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace podium::shim
