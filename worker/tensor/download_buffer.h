// Host memory to which small results come from where they were computed; on a device the host goes on
// meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "worker/tensor/memory_space.h"

namespace podium {

class DownloadBuffer {
 public:
  explicit DownloadBuffer(MemorySpace memory) : memory_(memory) {}
  ~DownloadBuffer();
  DownloadBuffer(const DownloadBuffer&) = delete;
  DownloadBuffer& operator=(const DownloadBuffer&) = delete;

  // Puts a copy on the stream, in order with its work. What was fetched before is gone.
  template <class T>
  void fetch(std::span<T> from) {
    start(from.data(), from.size_bytes());
  }
  bool fetching() const { return on_its_way_; }

  // What was fetched last; waits until it has come. Valid until the next fetch.
  template <class T>
  std::span<const T> arrived() {
    wait();
    return {reinterpret_cast<const T*>(host_), used_ / sizeof(T)};
  }

 private:
  void start(const void* from, std::size_t bytes);
  void wait();
  void release();

  MemorySpace memory_;
  std::byte* host_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  bool on_its_way_ = false;            // fetched, and nobody has asked for it yet
  std::unique_ptr<DeviceEvent> come_;  // of a device
  std::vector<std::byte> of_host_;     // the memory where there is no device
};

}  // namespace podium
