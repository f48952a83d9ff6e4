#include "worker/tokenizer/bpe_merges.h"

#include <bit>

#include "common/base/check.h"

namespace podium {

BpeMerges::BpeMerges(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

std::size_t BpeMerges::slot_of(std::int32_t left, std::int32_t right) const {
  const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = key * 0x9E3779B97F4A7C15 >> 32 & mask;  // Fibonacci hashing: the upper bits are well mixed
  while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask;
  return at;
}

bool BpeMerges::add(std::int32_t left, std::int32_t right, BpeMerge merge) {
  PODIUM_CHECK(2 * size_ < slots_.size(), "more merges than announced");
  Slot& slot = slots_[slot_of(left, right)];
  if (slot.left >= 0) return false;
  slot = {left, right, merge};
  ++size_;
  return true;
}

const BpeMerge* BpeMerges::find(std::int32_t left, std::int32_t right) const {
  const Slot& slot = slots_[slot_of(left, right)];
  return slot.left >= 0 ? &slot.merge : nullptr;
}

}  // namespace podium
