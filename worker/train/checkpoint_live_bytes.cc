#include "worker/train/checkpoint_live_bytes.h"

#include <algorithm>

namespace podium {

LiveBytes::LiveBytes(std::vector<std::span<const std::byte>> parts, MemorySpace memory)
    : memory_(memory), parts_(std::move(parts)) {}

std::size_t LiveBytes::read(std::span<std::byte> out) {
  const std::lock_guard lock(mutex_);
  std::size_t done = 0;
  while (done < out.size() && next_ < parts_.size()) {
    std::span<const std::byte>& part = parts_[next_];
    const std::size_t count = std::min(out.size() - done, part.size());
    memory_.copy(out.data() + done, part.data(), count);
    done += count;
    part = part.subspan(count);
    if (part.empty()) ++next_;
  }
  memory_.synchronise();
  return done;
}

std::size_t LiveBytes::let_go() {
  const std::lock_guard lock(mutex_);
  if (copy_) return 0;
  std::size_t left = 0;
  for (std::size_t i = next_; i < parts_.size(); ++i) left += parts_[i].size();
  if (left == 0) return 0;
  copy_ = std::make_unique_for_overwrite<std::byte[]>(left);
  std::byte* to = copy_.get();
  for (std::size_t i = next_; i < parts_.size(); ++i) {
    memory_.copy(to, parts_[i].data(), parts_[i].size());
    to += parts_[i].size();
  }
  memory_.synchronise();
  memory_ = {};
  parts_ = {{copy_.get(), left}};
  next_ = 0;
  return left;
}

}  // namespace podium
