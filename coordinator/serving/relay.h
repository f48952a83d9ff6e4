// One answer on its way from a replica to the client. What is one object arrives whole, so that another
// replica can be asked where this one fails; server-sent events pass as they come. On the gateway's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/net/http_message.h"

namespace podium {

class Relay {
 public:
  // `request_id` names the request in what clients are told.
  Relay(boost::asio::any_io_executor executor, std::string request_id);

  // Of the replica's side.
  void on_break_off(std::function<void()> call) { break_off_ = std::move(call); }
  void begin(const HttpResponse& head);  // of a 200
  bool add(std::string_view bytes);      // whether more is wanted
  void end(HttpResponse response);       // whole, unless it has begun
  void fail(std::string reason);

  // Of the client's side.
  struct Begun {
    HttpResponse response;  // of events only the head
    bool events = false;
    std::string failure;  // "": none
  };
  boost::asio::awaitable<Begun> begun();
  // The next events, whole and as they are; none at the end. A failure is told as the last event.
  boost::asio::awaitable<std::optional<std::string>> next();
  void leave();  // nobody reads any more

 private:
  boost::asio::awaitable<void> change();
  void wake() { changed_.cancel(); }

  std::size_t most() const;

  boost::asio::steady_timer changed_;
  std::string request_id_;
  std::function<void()> break_off_;
  HttpResponse response_;
  std::string come_;
  std::string failure_;
  bool has_begun_ = false, events_ = false, ended_ = false, left_ = false;
};

}  // namespace podium
