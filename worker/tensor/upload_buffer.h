// Host memory from which a device is sent small arrays again and again while the host goes on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "worker/tensor/memory_space.h"

namespace podium {

class UploadBuffer {
 public:
  explicit UploadBuffer(MemorySpace memory) : memory_(memory) {}  // of a device
  ~UploadBuffer();
  UploadBuffer(const UploadBuffer&) = delete;
  UploadBuffer& operator=(const UploadBuffer&) = delete;

  // To be filled; waits until what was sent before has left.
  std::span<std::byte> room(std::size_t bytes);
  // Puts the copy of the whole room to the device's memory at `to` on the stream.
  void send(void* to);

 private:
  void release();

  MemorySpace memory_;
  std::byte* host_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::unique_ptr<DeviceEvent> sent_;
};

}  // namespace podium
