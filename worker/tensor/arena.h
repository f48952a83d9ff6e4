// A bump allocator for what lives as long as one step. It grows during the first step; from then on a step
// allocates nothing from the system. Memory handed out is not cleared and stays valid until `reset` or the
// end of its scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/tensor/tensor.h"

namespace podium {

class Arena {
 public:
  Arena() = default;  // of host memory
  explicit Arena(Device* device) : device_(device) {}

  TensorView allocate(DType dtype, const Shape& shape);
  void* allocate_bytes(std::size_t bytes);

  // Takes everything back. Several blocks become one, as large as all of them, so that the next step needs no
  // other.
  void reset();
  std::size_t used() const;
  std::size_t capacity() const;  // held, used or not
  // Changes with the memory that is held: as long as it stays, the same allocations get the same addresses.
  std::int64_t moves() const { return moves_; }

 private:
  friend class ArenaScope;
  struct Block {
    AlignedBytes memory;
    std::size_t capacity = 0;
    std::size_t used = 0;
  };
  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };

  Mark mark() const;
  void rewind(Mark mark);

  Block make_block(std::size_t capacity);

  Device* device_ = nullptr;
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // blocks after this one are empty
  std::int64_t moves_ = 0;
};

// Scratch memory: what is allocated after the scope opens is taken back when it closes.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace podium
