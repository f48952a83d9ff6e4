// Host memory from which a device is sent small arrays again and again while the host goes on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "worker/tensor/memory_space.h"

namespace podium {

class UploadBuffer {
 public:
  explicit UploadBuffer(MemorySpace memory) : memory_(memory) {}  // of a device
  ~UploadBuffer();
  UploadBuffer(const UploadBuffer&) = delete;
  UploadBuffer& operator=(const UploadBuffer&) = delete;

  // To be filled. Waits only where many rooms before it have not been sent yet.
  std::span<std::byte> room(std::size_t bytes);
  // Puts the copy of the whole room to the device's memory at `to` on the stream.
  void send(void* to);

 private:
  struct Part {
    std::byte* host = nullptr;
    std::size_t capacity = 0;
    std::unique_ptr<DeviceEvent> sent;  // null: never used
  };

  Part& free_part();
  void release(Part& part);

  MemorySpace memory_;
  std::vector<Part> parts_;
  std::size_t current_ = 0;  // the last one given out
  std::size_t used_ = 0;     // of it
};

}  // namespace podium
