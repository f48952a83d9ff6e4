#include "coordinator/webhooks/courier.h"

#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kAtOnce = 8;
constexpr int kRowsAtOnce = 1000;
constexpr Duration kReadAgainAfter = std::chrono::seconds(1);

// The queue's times: the machine's clock may be set while notices wait.
Time steady_now() { return Time(std::chrono::duration_cast<Duration>(Steady::now().time_since_epoch())); }

}  // namespace

Courier::Courier(asio::any_io_executor executor, WebhookConfig config, WebhookReader& reader,
                 std::function<void(std::int64_t row)> done)
    : executor_(std::move(executor)),
      config_(std::move(config)),
      reader_(reader),
      done_(std::move(done)),
      wake_(executor_) {
  status_.name = config_.name;
  status_.address = config_.url.origin();
  status_.types = config_.types;
}

void Courier::start() { spawn(executor_, "webhook " + config_.name, dispatch(shared_from_this())); }

void Courier::wake() {
  woken_ = true;
  wake_.cancel();
}

void Courier::retry() {
  queue_.retry();
  wake_.cancel();
}

void Courier::look() {
  queue_.drop_before(reader_.first(config_.name).value_or(INT64_MAX));
  const Time steady = steady_now(), wall = SystemClock().now();
  for (std::vector<QueuedNotice> rows;;) {
    rows = reader_.queued(config_.name, newest_, kRowsAtOnce);
    for (const QueuedNotice& each : rows) {
      queue_.add(each.row, each.subject, steady + (each.at + kGiveUpAfter - wall));
      newest_ = each.row;
    }
    if (rows.size() < kRowsAtOnce) return;
  }
}

void Courier::stop() {
  stopping_ = true;
  wake_.cancel();
  for (const auto& client : busy_) client->cancel();
}

WebhookStatus Courier::status() {
  status_.waiting = std::ssize(queue_);
  status_.lost = reader_.lost(config_.name);
  return status_;
}

asio::awaitable<void> Courier::dispatch(std::shared_ptr<Courier>) {
  while (!stopping_) {
    std::optional<Time> at;
    try {
      if (std::exchange(woken_, false)) look();
      give_up_old();
      send_what_is_due();
      if (under_way_ < kAtOnce) at = queue_.wake_at();
    } catch (const std::exception& error) {
      spdlog::error("webhook \"{}\" cannot read what it is to send: {}", config_.name, error.what());
      woken_ = true;
      at = steady_now() + kReadAgainAfter;
    }
    wake_.expires_at(at ? Steady::time_point(at->time_since_epoch()) : Steady::time_point::max());
    co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

void Courier::give_up_old() {
  for (const std::int64_t row : queue_.expire(steady_now())) {
    ++status_.expired;
    spdlog::error("webhook \"{}\" has not taken a notice for a day; it is given up: {}", config_.name,
                  status_.error);
    done_(row);
  }
}

void Courier::send_what_is_due() {
  while (under_way_ < kAtOnce) {
    const std::optional<std::int64_t> row = queue_.next(steady_now());
    if (!row) return;
    std::optional<NoticeText> notice = reader_.text(*row);
    if (!notice) {
      queue_.vanished(*row);
      continue;
    }
    ++under_way_;
    spawn(executor_, "webhook " + config_.name, carry(shared_from_this(), *row, std::move(*notice)));
  }
}

asio::awaitable<void> Courier::carry(std::shared_ptr<Courier>, std::int64_t row, NoticeText notice) {
  const Delivery delivery = co_await send(std::move(notice));
  --under_way_;
  if (stopping_) co_return;
  note(row, delivery);
  wake_.cancel();
}

asio::awaitable<Delivery> Courier::send(NoticeText notice) {
  std::shared_ptr<HttpClient> client;
  if (!idle_.empty()) {
    client = std::move(idle_.back());
    idle_.pop_back();
  } else if (const std::string why = make_client(executor_, config_, client); !why.empty()) {
    co_return Delivery{.error = why};
  }
  busy_.insert(client);
  Delivery delivery = co_await deliver(*client, config_, std::move(notice));
  busy_.erase(client);
  idle_.push_back(client);
  co_return delivery;
}

void Courier::note(std::int64_t row, const Delivery& delivery) {
  const Time now = SystemClock().now();
  if (delivery.ok) {
    if (status_.failing) spdlog::info("webhook \"{}\" takes notices again", config_.name);
    queue_.sent(row);
    ++status_.delivered;
    status_.last_delivered = now;
    status_.failing = false;
    done_(row);
    return;
  }
  if (!status_.failing)
    spdlog::warn("webhook \"{}\" does not take notices; they are sent again for a day: {}", config_.name,
                 delivery.error);
  queue_.failed(row, delivery.failure, steady_now(), std::uniform_int_distribution(0, 999)(random_) / 1000.0);
  ++status_.failed;
  status_.failing = true;
  status_.error = delivery.error;
  status_.failed_at = now;
}

}  // namespace podium
