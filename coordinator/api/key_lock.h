// Makes coroutines that lock the same key take turns. On one thread.
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
  // The key is locked as long as this lives.
  class Guard {
   public:
    Guard(KeyLock& lock, std::string key) : lock_(&lock), key_(std::move(key)) {}
    Guard(Guard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)), key_(std::move(other.key_)) {}
    ~Guard() {
      if (lock_) lock_->unlock(key_);
    }

   private:
    KeyLock* lock_;
    std::string key_;
  };

  explicit KeyLock(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  boost::asio::awaitable<Guard> acquire(std::string key) {
    while (locked_.contains(key)) {
      boost::asio::steady_timer turn(executor_, boost::asio::steady_timer::time_point::max());
      locked_[key].push_back(&turn);
      co_await turn.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    locked_[key];
    co_return Guard(*this, std::move(key));
  }

 private:
  void unlock(const std::string& key) {
    for (boost::asio::steady_timer* waiting : locked_.at(key)) waiting->cancel();
    locked_.erase(key);
  }

  boost::asio::any_io_executor executor_;
  std::map<std::string, std::list<boost::asio::steady_timer*>> locked_;  // and who waits for each
};

}  // namespace podium
