#include "coordinator/serving/relay.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "common/net/problem.h"

namespace podium {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostUnread = std::size_t{1} << 20;   // bytes of events that a client may leave unread
constexpr std::size_t kMostAnswer = std::size_t{16} << 20;  // of any other answer
constexpr char kEvents[] = "text/event-stream";
constexpr char kEndOfEvent[] = "\n\n";

}  // namespace

Relay::Relay(asio::any_io_executor executor, std::string request_id)
    : changed_(std::move(executor), asio::steady_timer::time_point::max()),
      request_id_(std::move(request_id)) {}

std::size_t Relay::most() const { return events_ ? kMostUnread : kMostAnswer; }

void Relay::begin(const HttpResponse& head) {
  response_.status = head.status;
  response_.headers = head.headers;
  events_ = head.headers.get("Content-Type").starts_with(kEvents);
  has_begun_ = true;
  wake();
}

bool Relay::add(std::string_view bytes) {
  if (left_) return false;
  if (come_.size() + bytes.size() > most()) {
    failure_ = events_ ? "the client reads too slowly" : "the answer is too large";
    return false;
  }
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
  while (true) {
    const std::size_t last = come_.rfind(kEndOfEvent);
    if (last != std::string::npos) {
      std::string rest = come_.substr(last + 2);
      come_.resize(last + 2);
      co_return std::exchange(come_, std::move(rest));
    }
    if (ended_) break;
    co_await change();
  }
  if (failure_.empty()) co_return std::nullopt;
  come_.clear();  // part of an event
  const ServerReply told = problem(503, "the text ends here: " + std::exchange(failure_, {}), request_id_);
  co_return "event: error\ndata: " + told.body + kEndOfEvent;
}

void Relay::leave() {
  left_ = true;
  if (break_off_) break_off_();
}

}  // namespace podium
