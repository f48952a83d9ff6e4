#include "worker/tensor/arena.h"

#include <algorithm>

namespace podium {
namespace {
constexpr std::size_t kSmallestBlock = std::size_t{1} << 20;
}

void* Arena::allocate_bytes(std::size_t bytes) {
  const std::size_t multiple = device_ == nullptr ? kAlignment : kDeviceAlignment;
  const std::size_t size = std::max((bytes + multiple - 1) / multiple, std::size_t{1}) * multiple;
  while (current_ < blocks_.size() && blocks_[current_].used + size > blocks_[current_].capacity) {
    if (current_ + 1 == blocks_.size()) break;
    ++current_;
  }
  if (blocks_.empty() || blocks_[current_].used + size > blocks_[current_].capacity) {
    blocks_.push_back(make_block(std::max(size, kSmallestBlock)));
    current_ = blocks_.size() - 1;
  }
  Block& block = blocks_[current_];
  void* memory = block.memory.get() + block.used;
  block.used += size;
  return memory;
}

Arena::Block Arena::make_block(std::size_t capacity) {
  ++moves_;
  return {allocate_aligned(capacity, device_), capacity, 0};
}

TensorView Arena::allocate(DType dtype, const Shape& shape) {
  return {allocate_bytes(static_cast<std::size_t>(shape.size()) * size_of(dtype)), dtype, shape};
}

void Arena::reset() {
  if (blocks_.size() > 1) {
    std::size_t capacity = 0;
    for (const Block& block : blocks_) capacity += block.capacity;
    blocks_.clear();
    blocks_.push_back(make_block(capacity));
  }
  rewind({});
}

std::size_t Arena::used() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.used;
  return total;
}

std::size_t Arena::capacity() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.capacity;
  return total;
}

Arena::Mark Arena::mark() const { return blocks_.empty() ? Mark{} : Mark{current_, blocks_[current_].used}; }

void Arena::rewind(Mark mark) {
  for (std::size_t i = mark.block; i < blocks_.size(); ++i) blocks_[i].used = i == mark.block ? mark.used : 0;
  current_ = mark.block;
}

}  // namespace podium
