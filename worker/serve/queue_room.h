// A place in a queue, kept for a request whose text is still becoming tokens.
#pragma once

#include <functional>
#include <utility>

namespace podium {

// The queue outlives it. Any thread may end it.
class QueueRoom {
 public:
  explicit QueueRoom(std::function<void()> release) : release_(std::move(release)) {}
  QueueRoom(QueueRoom&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
  QueueRoom& operator=(QueueRoom&&) = delete;
  ~QueueRoom() {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

}  // namespace podium
