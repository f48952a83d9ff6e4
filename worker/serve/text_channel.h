// The pieces of a text on their way from an engine to the coroutine that sends them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include "worker/serve/generation_engine.h"

namespace podium {

class TextChannel : public std::enable_shared_from_this<TextChannel> {
 public:
  // Nothing comes after the deadline but that it is over.
  TextChannel(boost::asio::any_io_executor executor, ServeTime deadline);

  // From any thread.
  void add(std::string text);
  void end(GenerationEnded ended);

  // On the executor's thread: the client has left, and no more pieces come.
  void leave() {
    come_.has_left = true;
    wake();
  }
  // What has come since the last piece, at least something, or the end, be it that of the time. One at a
  // time.
  struct Piece {
    std::string text;
    std::optional<GenerationEnded> ended;  // no more pieces come
    bool has_left = false;
    bool is_late = false;  // the deadline has come before the engine told the end
  };
  boost::asio::awaitable<Piece> next();

 private:
  void wake() { changed_.cancel(); }
  bool has_come() const { return !come_.text.empty() || come_.ended || come_.has_left; }

  boost::asio::any_io_executor executor_;
  // Of the executor's thread.
  boost::asio::steady_timer changed_;  // at the deadline
  ServeTime deadline_;
  Piece come_;
};

}  // namespace podium
