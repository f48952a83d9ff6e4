// Makes coroutines that hold the same key take turns. On one thread.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <map>
#include <string>

namespace podium {

class KeyLock {
 public:
  // Holds its key until it is destroyed.
  class Held {
   public:
    Held(KeyLock& lock, std::string key) : lock_(&lock), key_(std::move(key)) {}
    Held(Held&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)), key_(std::move(other.key_)) {}
    ~Held() {
      if (lock_) lock_->release(key_);
    }

   private:
    KeyLock* lock_;
    std::string key_;
  };

  explicit KeyLock(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  boost::asio::awaitable<Held> acquire(std::string key) {
    while (held_.contains(key)) {
      boost::asio::steady_timer turn(executor_, boost::asio::steady_timer::time_point::max());
      held_[key].push_back(&turn);
      co_await turn.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    held_[key];
    co_return Held(*this, std::move(key));
  }

 private:
  void release(const std::string& key) {
    for (boost::asio::steady_timer* waiting : held_.at(key)) waiting->cancel();
    held_.erase(key);
  }

  boost::asio::any_io_executor executor_;
  std::map<std::string, std::list<boost::asio::steady_timer*>> held_;  // and who waits for each
};

}  // namespace podium
