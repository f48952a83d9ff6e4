// What another thread makes for a request, which waits for it until its time is over or its client has left.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "worker/serve/batch_queue.h"

namespace podium {

template <class Value>
class Awaited : public std::enable_shared_from_this<Awaited<Value>> {
 public:
  Awaited(boost::asio::any_io_executor executor, ServeTime deadline)
      : executor_(std::move(executor)), deadline_(deadline), timer_(executor_) {}

  // From any thread, one of both and once.
  void give(Value value) {
    boost::asio::post(executor_, [self = this->shared_from_this(), value = std::move(value)]() mutable {
      self->value_ = std::move(value);
      self->wake();
    });
  }
  void fail(std::exception_ptr why) {
    boost::asio::post(executor_, [self = this->shared_from_this(), why = std::move(why)] {
      self->failure_ = why;
      self->wake();
    });
  }
  void set_deadline(ServeTime deadline) {
    boost::asio::post(executor_, [self = this->shared_from_this(), deadline] {
      self->deadline_ = deadline;
      self->timer_.cancel();
    });
  }
  bool is_wanted() const { return wanted_; }  // somebody waits, or will

  // On the executor's thread.
  ServeTime deadline() const { return deadline_; }
  void give_up() { wake(); }  // the wait ends
  // Once. Nothing where it ends without a value; throws the failure.
  boost::asio::awaitable<std::optional<Value>> wait() {
    while (!ended_ && ServeTime::clock::now() < deadline_) {
      timer_.expires_at(deadline_);
      co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    wanted_ = false;
    if (failure_) std::rethrow_exception(failure_);
    co_return std::move(value_);
  }

 private:
  void wake() {
    ended_ = true;
    timer_.cancel();
  }

  boost::asio::any_io_executor executor_;
  std::atomic<bool> wanted_ = true;
  // Of the executor's thread.
  ServeTime deadline_;
  boost::asio::steady_timer timer_;
  bool ended_ = false;
  std::optional<Value> value_;
  std::exception_ptr failure_;
};

}  // namespace podium
