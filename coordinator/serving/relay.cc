#include "coordinator/serving/relay.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace podium {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostUnread = std::size_t{1} << 20;  // bytes that a client may leave unread
constexpr char kEvents[] = "text/event-stream";

}  // namespace

Relay::Relay(asio::any_io_executor executor)
    : changed_(std::move(executor), asio::steady_timer::time_point::max()) {}

void Relay::begin(const HttpResponse& head) {
  response_.status = head.status;
  response_.headers = head.headers;
  events_ = head.headers.get("Content-Type").starts_with(kEvents);
  has_begun_ = true;
  wake();
}

bool Relay::add(std::string_view bytes) {
  if (left_ || (events_ && come_.size() + bytes.size() > kMostUnread)) return false;
  come_.append(bytes);
  wake();
  return true;
}

void Relay::end(HttpResponse response) {
  if (!has_begun_) response_ = std::move(response);
  ended_ = true;
  wake();
}

void Relay::fail(std::string reason) {
  failure_ = std::move(reason);
  ended_ = true;
  wake();
}

asio::awaitable<void> Relay::change() { co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable)); }

asio::awaitable<Relay::Begun> Relay::begun() {
  while (!ended_ && !events_) co_await change();
  if (has_begun_ && !events_) response_.body = std::exchange(come_, {});
  // A failure behind the first event is told by next().
  co_return Begun{std::move(response_), events_, events_ ? "" : failure_};
}

asio::awaitable<std::optional<std::string>> Relay::next() {
  while (come_.empty() && !ended_) co_await change();
  if (!come_.empty()) co_return std::exchange(come_, {});
  if (failure_.empty()) co_return std::nullopt;
  const nlohmann::json error{
      {"message", "the replica that wrote this text is gone: " + std::exchange(failure_, {})}};
  co_return "event: error\ndata: " + error.dump() + "\n\n";
}

void Relay::leave() {
  left_ = true;
  if (break_off_) break_off_();
}

}  // namespace podium
