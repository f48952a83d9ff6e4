// Memory that one thread reads from front to end while its owner waits to change it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace podium {

class LiveBytes {
 public:
  explicit LiveBytes(std::vector<std::span<const std::byte>> parts);

  // Reader: fills `out` with the next bytes, as many as there are; 0 at the end.
  std::size_t read(std::span<std::byte> out);
  // Owner: afterwards the memory may change. Copies what was not read yet; returns how many bytes that were.
  std::size_t let_go();

 private:
  std::mutex mutex_;
  std::vector<std::span<const std::byte>> parts_;  // the first that is not empty is read next
  std::size_t next_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace podium
