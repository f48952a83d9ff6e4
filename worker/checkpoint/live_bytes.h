// A snapshot of memory, of the host or of a device, that one thread reads from front to end while the owner
// changes the memory. Before the owner changes bytes that the reader has not read, their blocks are copied.
// Copies take a bounded amount of memory. When that is used up, the owner waits for the reader; the reader
// never waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "worker/tensor/memory_space.h"
#include "worker/tensor/tensor.h"

namespace podium {

// Any thread calls this with memory that is about to change. It returns when the memory may change.
using BeforeChange = std::function<void(std::span<const std::byte>)>;

class LiveBytes {
 public:
  static constexpr std::size_t kBlock = 1 << 20;  // what is copied at once

  // `memory` is where the parts lie; nobody else may use its stream meanwhile. The parts must not overlap.
  // Copies take at most `most_copied` bytes, rounded up to blocks, at least one block.
  LiveBytes(const std::vector<std::span<const std::byte>>& parts, MemorySpace memory,
            std::size_t most_copied);

  // Reader: fills `out` with the next bytes and returns their number; 0 at the end.
  std::size_t read(std::span<std::byte> out);
  // Reader: it reads no more, and nobody need wait for it.
  void abandon();

  // Owner: waits, for `time` at most, until no call of let_go() has to wait for the reader. Returns whether
  // that is so.
  bool wait_for_room(std::chrono::milliseconds time);
  // Owner, any of its threads: when it returns, these bytes may change. Bytes outside of the parts are
  // allowed. It never throws for the host's memory, because a parallel loop could not pass an exception on.
  void let_go(std::span<const std::byte> changing);

  std::size_t most_held() const;  // bytes of copies there were at the same time

 private:
  struct Part {
    const std::byte* begin;
    std::size_t size;
    std::size_t offset;  // into what is read
  };
  struct Block {
    std::size_t read = 0;       // of its bytes, from the first on
    std::byte* copy = nullptr;  // of those not read yet, each where it would lie in the block
    bool busy = false;          // somebody copies its live bytes
  };

  std::size_t size_of_block(std::size_t index) const;
  bool is_live(std::size_t index) const;
  void let_go_block(std::size_t index);
  void read_block(std::size_t index, std::span<std::byte> out);
  void copy_busy(std::unique_lock<std::mutex>& lock, Block& block, std::size_t offset,
                 std::span<std::byte> out);
  void copy_live(std::size_t offset, std::span<std::byte> out);

  const MemorySpace memory_;
  std::vector<Part> parts_;  // as they are read
  std::vector<const Part*> parts_by_address_;
  std::size_t size_ = 0;
  std::size_t position_ = 0;  // of the reader
  std::size_t copies_ = 0;    // at most so many blocks
  AlignedBytes room_;         // for them; what is not used is not touched
  std::mutex stream_;         // held while a device copies

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Block> blocks_;
  std::size_t live_ = 0;          // blocks that are neither copied nor read to their end
  std::vector<std::byte*> free_;  // the room's blocks
  std::size_t least_free_ = 0;
  bool abandoned_ = false;
};

}  // namespace podium
