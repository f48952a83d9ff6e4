// Delivers the notices of one webhook, a few beside each other. On the webhooks' thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "coordinator/webhooks/delivery.h"
#include "coordinator/webhooks/delivery_queue.h"

namespace podium {

struct WebhookStatus {
  std::string name;
  std::string address;  // without its path
  std::set<NoticeType> types;
  std::int64_t waiting = 0;
  // Since the coordinator started: notices, failed attempts, and notices that were a day old.
  std::int64_t delivered = 0, failed = 0, expired = 0;
  std::int64_t lost = 0;  // ever, by a full queue
  std::optional<Time> last_delivered;
  bool failing = false;  // the newest attempt failed
  std::string error;     // of the newest that failed
  std::optional<Time> failed_at;
};

class Courier : public std::enable_shared_from_this<Courier> {
 public:
  // `done` is told each row that is delivered or given up. The reader must outlive it.
  Courier(boost::asio::any_io_executor executor, WebhookConfig config, WebhookReader& reader,
          std::function<void(std::int64_t row)> done);

  void start();
  void wake();   // there may be new rows
  void retry();  // what has failed, now
  void stop();   // breaks off what is under way
  WebhookStatus status();
  const WebhookConfig& config() const { return config_; }

 private:
  boost::asio::awaitable<void> dispatch(std::shared_ptr<Courier> self);
  boost::asio::awaitable<void> carry(std::shared_ptr<Courier> self, std::int64_t row, NoticeText notice);
  void look();
  void give_up_old();
  void send_what_is_due();
  void note(std::int64_t row, const Delivery& delivery);
  boost::asio::awaitable<Delivery> send(NoticeText notice);

  boost::asio::any_io_executor executor_;
  WebhookConfig config_;
  WebhookReader& reader_;
  std::function<void(std::int64_t row)> done_;
  DeliveryQueue queue_;
  std::int64_t newest_ = 0;  // row that is in the queue, or was
  bool woken_ = true;
  boost::asio::steady_timer wake_;
  bool stopping_ = false;
  std::size_t under_way_ = 0;
  std::vector<std::shared_ptr<HttpClient>> idle_;
  std::set<std::shared_ptr<HttpClient>> busy_;
  std::minstd_rand random_{std::random_device{}()};
  WebhookStatus status_;
};

}  // namespace podium
