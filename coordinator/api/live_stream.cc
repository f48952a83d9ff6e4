#include "coordinator/api/live_stream.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

#include "common/net/server_events.h"

namespace podium {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t kMaxPiece = 64 * 1024;

std::string reset_message(std::int64_t id) { return format_event({std::to_string(id), "reset", "{}"}); }

}  // namespace

struct LiveStream::Subscription {
  Subscription(LiveStream& owner, std::int64_t first, std::optional<JobId> only)
      : stream(owner), next(first), job(only), timer(owner.executor_) {
    ++stream.subscribers_;
  }
  ~Subscription() {
    --stream.subscribers_;
    stream.last_left_ = Steady::now();
  }
  Subscription(const Subscription&) = delete;

  LiveStream& stream;
  std::int64_t next;  // the id it reads next
  std::optional<JobId> job;
  asio::steady_timer timer;
  bool greeted = false;
};

LiveStream::LiveStream(asio::any_io_executor executor, Time now, Limits limits)
    : executor_(std::move(executor)),
      limits_(limits),
      first_id_(to_millis(now)),
      next_id_(first_id_),
      told_id_(first_id_ - 1) {}

LiveStream::LiveStream(asio::any_io_executor executor, Time now)
    : LiveStream(std::move(executor), now, Limits{}) {}

void LiveStream::publish(std::string_view name, std::optional<JobId> job, const std::string& data) {
  ring_.push_back({next_id_, job, format_event({std::to_string(next_id_), std::string(name), data})});
  ring_bytes_ += ring_.back().text.size();
  told_id_ = next_id_++;
  while (ring_.size() > limits_.messages || ring_bytes_ > limits_.bytes) {
    ring_bytes_ -= ring_.front().text.size();
    first_id_ = ring_.front().id + 1;
    ring_.pop_front();
  }
  for (asio::steady_timer* waiting : waiting_) waiting->cancel();
}

void LiveStream::skip() {
  ring_.clear();
  ring_bytes_ = 0;
  first_id_ = ++next_id_;
  told_id_ = first_id_ - 1;
}

bool LiveStream::watched() const {
  return subscribers_ > 0 ||
         (last_left_ != Steady::time_point{} && Steady::now() - last_left_ < limits_.linger);
}

// What `subscription` has not read, up to kMaxPiece, or "" when that is nothing.
std::string LiveStream::pieces_after(Subscription& subscription) const {
  if (subscription.next < first_id_ || subscription.next > next_id_) {
    subscription.next = next_id_;
    return reset_message(last_id());
  }
  std::string out;
  auto message = std::ranges::lower_bound(ring_, subscription.next, {}, &Message::id);
  for (; message != ring_.end() && out.size() < kMaxPiece; ++message) {
    if (!subscription.job || message->job == subscription.job) out += message->text;
    subscription.next = message->id + 1;
  }
  return out;
}

LiveStream::Pieces LiveStream::subscribe(std::optional<std::int64_t> last_id, std::optional<JobId> job) {
  // Shared because std::function copies what it holds.
  auto subscription = std::make_shared<Subscription>(*this, last_id ? *last_id + 1 : next_id_, job);
  return [this, subscription]() -> asio::awaitable<std::optional<std::string>> {
    if (!std::exchange(subscription->greeted, true)) co_return ": live\n\n";
    while (!closed_) {
      std::string out = pieces_after(*subscription);
      if (!out.empty()) co_return out;
      subscription->timer.expires_after(limits_.heartbeat);
      waiting_.insert(&subscription->timer);
      const auto [woken] = co_await subscription->timer.async_wait(asio::as_tuple(asio::use_awaitable));
      waiting_.erase(&subscription->timer);
      if (!woken && !closed_) co_return ": still here\n\n";
    }
    co_return std::nullopt;
  };
}

void LiveStream::close() {
  closed_ = true;
  for (asio::steady_timer* waiting : waiting_) waiting->cancel();
}

}  // namespace podium
