#include "worker/serve/text_channel.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace podium {

namespace asio = boost::asio;

TextChannel::TextChannel(asio::any_io_executor executor)
    : executor_(std::move(executor)), changed_(executor_, asio::steady_timer::time_point::max()) {}

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
  while (come_.text.empty() && !come_.ended && !come_.has_left)
    co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return std::exchange(come_, {});
}

}  // namespace podium
