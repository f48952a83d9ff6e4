// Memory, of the host or of a device, that one thread reads from front to end while its owner waits to change
// it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "worker/tensor/memory_space.h"

namespace podium {

class LiveBytes {
 public:
  // `memory`: where the parts lie; nobody else may use its stream meanwhile.
  LiveBytes(std::vector<std::span<const std::byte>> parts, MemorySpace memory);

  // Reader: fills `out` with the next bytes, as many as there are; 0 at the end.
  std::size_t read(std::span<std::byte> out);
  // Owner: afterwards the memory may change. Copies what was not read yet; returns how many bytes that were.
  std::size_t let_go();

 private:
  std::mutex mutex_;
  MemorySpace memory_;                             // of the parts
  std::vector<std::span<const std::byte>> parts_;  // the first that is not empty is read next
  std::size_t next_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace podium
