#include "worker/checkpoint/live_bytes.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "worker/tensor/host_memory.h"

namespace podium {

LiveBytes::LiveBytes(const std::vector<std::span<const std::byte>>& parts, MemorySpace memory,
                     std::size_t most_copied)
    : memory_(memory) {
  for (const std::span<const std::byte>& part : parts) {
    if (part.empty()) continue;
    parts_.push_back({part.data(), part.size(), size_});
    size_ += part.size();
  }
  for (const Part& part : parts_) parts_by_address_.push_back(&part);
  std::ranges::sort(parts_by_address_, std::less<>(), [](const Part* part) { return part->begin; });
  blocks_.resize((size_ + kBlock - 1) / kBlock);
  live_ = blocks_.size();
  copies_ = std::clamp<std::size_t>((most_copied + kBlock - 1) / kBlock, 1,
                                    std::max<std::size_t>(1, blocks_.size()));
  room_ = allocate_untouched(copies_ * kBlock);
  for (std::size_t i = copies_; i-- > 0;) free_.push_back(room_.get() + i * kBlock);
  least_free_ = copies_;
}

std::size_t LiveBytes::size_of_block(std::size_t index) const {
  return std::min(kBlock, size_ - index * kBlock);
}

bool LiveBytes::is_live(std::size_t index) const {
  return blocks_[index].copy == nullptr && blocks_[index].read < size_of_block(index);
}

std::size_t LiveBytes::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && position_ < size_) {
    const std::size_t index = position_ / kBlock, within = position_ % kBlock;
    const std::size_t count = std::min(out.size() - done, size_of_block(index) - within);
    read_block(index, out.subspan(done, count));
    position_ += count;
    done += count;
  }
  if (position_ == size_) room_.reset();  // nothing is live any more
  return done;
}

// The block's next bytes.
void LiveBytes::read_block(std::size_t index, std::span<std::byte> out) {
  Block& block = blocks_[index];
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !block.busy; });
  if (block.copy == nullptr) {
    copy_busy(lock, block, position_, out);
  } else {
    lock.unlock();
    std::memcpy(out.data(), block.copy + block.read, out.size());
    lock.lock();
  }
  block.read += out.size();
  if (block.read == size_of_block(index)) {
    if (block.copy != nullptr)
      free_.push_back(std::exchange(block.copy, nullptr));
    else
      --live_;
  }
  changed_.notify_all();
}

void LiveBytes::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

bool LiveBytes::wait_for_room(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return abandoned_ || live_ <= free_.size(); });
}

void LiveBytes::let_go(std::span<const std::byte> changing) {
  const std::byte* const end = changing.data() + changing.size();
  // Parts do not overlap: the first that reaches into the bytes is the one after all that end before them.
  auto next = std::ranges::upper_bound(parts_by_address_, changing.data(), std::less<>(),
                                       [](const Part* part) { return part->begin + part->size; });
  for (; next != parts_by_address_.end() && (*next)->begin < end; ++next) {
    const Part& part = **next;
    const std::byte* const first = std::max(part.begin, changing.data());
    const std::byte* const last = std::min(part.begin + part.size, end);
    if (first >= last) continue;
    const auto from = part.offset + static_cast<std::size_t>(first - part.begin);
    const auto to = part.offset + static_cast<std::size_t>(last - part.begin);
    for (std::size_t index = from / kBlock; index <= (to - 1) / kBlock; ++index) let_go_block(index);
  }
}

void LiveBytes::let_go_block(std::size_t index) {
  Block& block = blocks_[index];
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || (!block.busy && (!is_live(index) || !free_.empty())); });
  if (abandoned_ || !is_live(index)) return;
  std::byte* const room = free_.back();
  free_.pop_back();
  least_free_ = std::min(least_free_, free_.size());
  const std::size_t read = block.read;
  try {
    copy_busy(lock, block, index * kBlock + read, {room + read, size_of_block(index) - read});
  } catch (...) {
    free_.push_back(room);
    throw;
  }
  block.copy = room;
  --live_;
}

// Without the lock, which is held again afterwards. A block is busy no longer than that, also where a device
// fails to copy: somebody may wait for it.
void LiveBytes::copy_busy(std::unique_lock<std::mutex>& lock, Block& block, std::size_t offset,
                          std::span<std::byte> out) {
  block.busy = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    copy_live(offset, out);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  block.busy = false;
  changed_.notify_all();
  if (error) std::rethrow_exception(error);
}

// Bytes from `offset` on, of a block that is busy.
void LiveBytes::copy_live(std::size_t offset, std::span<std::byte> out) {
  // Of a device's stream one thread at a time may await its copies.
  const std::unique_lock lock =
      memory_.on_host() ? std::unique_lock<std::mutex>() : std::unique_lock(stream_);
  auto part = std::prev(std::ranges::upper_bound(parts_, offset, std::less<>(), &Part::offset));
  for (std::size_t done = 0; done < out.size(); ++part) {
    const std::size_t skip = offset + done - part->offset;
    const std::size_t count = std::min(part->size - skip, out.size() - done);
    memory_.copy(out.data() + done, part->begin + skip, count);
    done += count;
  }
  memory_.synchronise();
}

std::size_t LiveBytes::most_held() const {
  const std::lock_guard lock(mutex_);
  return (copies_ - least_free_) * kBlock;
}

}  // namespace podium
