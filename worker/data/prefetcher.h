// Makes the next values on a thread of its own, at most `depth` ahead. An exception of `make` reaches the
// caller of `next`, in its turn.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace podium {

template <class T>
class Prefetcher {
 public:
  // `make` is called once for each value, in order, until the prefetcher is destroyed.
  Prefetcher(std::function<T()> make, std::size_t depth)
      : make_(std::move(make)), depth_(depth), thread_([this](std::stop_token stop) { run(stop); }) {}

  T next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || error_; });
    if (ready_.empty()) std::rethrow_exception(error_);
    T value = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return value;
  }

 private:
  void run(std::stop_token stop) {
    try {
      while (wait_for_room(stop)) {
        T value = make_();
        const std::lock_guard lock(mutex_);
        ready_.push_back(std::move(value));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  bool wait_for_room(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return ready_.size() < depth_; });
    return !stop.stop_requested();
  }

  std::function<T()> make_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  std::exception_ptr error_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace podium
