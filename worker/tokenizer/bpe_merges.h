// The merges of a byte-pair vocabulary: what two tokens make, by their ids. Looked up far more often than
// anything else here, so it is one array with linear probing, at most half full.
#pragma once

#include <cstdint>
#include <vector>

namespace podium {

struct BpeMerge {
  std::int32_t rank = 0;  // lower merges come first
  std::int32_t token = 0;
};

class BpeMerges {
 public:
  explicit BpeMerges(std::size_t most);  // pairs it will hold

  std::size_t size() const { return size_; }
  // False where the pair is known already.
  bool add(std::int32_t left, std::int32_t right, BpeMerge merge);
  const BpeMerge* find(std::int32_t left, std::int32_t right) const;

 private:
  struct Slot {
    std::int32_t left = -1;  // -1: free
    std::int32_t right = -1;
    BpeMerge merge;
  };

  std::size_t slot_of(std::int32_t left, std::int32_t right) const;  // of the pair, or where it would go

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace podium
