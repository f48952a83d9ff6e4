// Where the tensors of a context lie: in the host's memory or in a device's, which the host must never read
// or write but by copies on the stream that all of the context's work is put on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "worker/tensor/device.h"

namespace podium {

struct MemorySpace {
  Device* device = nullptr;  // none: host memory. Device and stream outlive all that is made with them
  DeviceStream* stream = nullptr;

  bool on_host() const { return device == nullptr; }

  // Within the space, in order with the stream's work; the host does not wait.
  void copy(void* to, const void* from, std::size_t bytes) const;
  void clear(void* memory, std::size_t bytes) const;
  void synchronise() const;  // returns when all work put on the stream is done

  // From host memory into the space and back, behind all work put on the stream so far; done on return.
  void upload(void* to, const void* from, std::size_t bytes) const;
  void download(void* to, const void* from, std::size_t bytes) const;
  template <class T>
  void upload(std::span<T> to, std::span<const T> from) const {
    upload(to.data(), from.data(), from.size_bytes());
  }
  template <class T>
  std::vector<T> downloaded(std::span<const T> values) const {
    std::vector<T> copy(values.size());
    download(copy.data(), values.data(), values.size_bytes());
    return copy;
  }
};

}  // namespace podium
