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
  explicit TextChannel(boost::asio::any_io_executor executor);

  // From any thread.
  void add(std::string text);
  void end(GenerationEnded ended);

  // On the executor's thread: the client has left, and no more pieces come.
  void leave() {
    come_.has_left = true;
    wake();
  }
  // What has come since the last piece, at least something, or the end. One at a time.
  struct Piece {
    std::string text;
    std::optional<GenerationEnded> ended;  // no more pieces come
    bool has_left = false;
  };
  boost::asio::awaitable<Piece> next();

 private:
  void wake() { changed_.cancel(); }

  boost::asio::any_io_executor executor_;
  // Of the executor's thread.
  boost::asio::steady_timer changed_;
  Piece come_;
};

}  // namespace podium
