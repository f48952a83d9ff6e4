#include "worker/serve/text_channel.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace podium {

namespace asio = boost::asio;

TextChannel::TextChannel(asio::any_io_executor executor, ServeTime deadline)
    : executor_(std::move(executor)), changed_(executor_), deadline_(deadline) {}

void TextChannel::add(std::string text) {
  asio::post(executor_, [self = shared_from_this(), text = std::move(text)] {
    self->come_.text += text;
    self->wake();
  });
}

void TextChannel::end(GenerationEnded ended) {
  asio::post(executor_, [self = shared_from_this(), ended = std::move(ended)]() mutable {
    self->come_.ended = std::move(ended);
    self->wake();
  });
}

asio::awaitable<TextChannel::Piece> TextChannel::next() {
  while (!has_come() && ServeTime::clock::now() < deadline_) {
    changed_.expires_at(deadline_);
    co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  if (!has_come()) {
    come_.is_late = true;
    come_.ended = GenerationEnded{GenerationEnded::Kind::expired, {}};
  }
  co_return std::exchange(come_, {});
}

}  // namespace podium
