#include "coordinator/webhooks/webhooks.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <thread>

#include "common/net/token.h"

namespace podium {

namespace asio = boost::asio;

class Webhooks::Impl {
 public:
  Impl(std::vector<WebhookConfig> configs, Store& store, const std::filesystem::path& home)
      : store_(store), reader_(home) {
    for (WebhookConfig& config : configs)
      couriers_.push_back(std::make_shared<Courier>(io_.get_executor(), std::move(config), reader_,
                                                    [this](std::int64_t row) { done(row); }));
  }

  ~Impl() {
    asio::post(io_, [this] {
      stopping_ = true;
      for (const auto& courier : couriers_) courier->stop();
      for (const auto& client : trials_) client->cancel();
      work_.reset();
    });
    if (thread_.joinable()) thread_.join();
  }

  void start() {
    asio::post(io_, [this] {
      for (const auto& courier : couriers_) courier->start();
    });
    thread_ = std::thread([this] { io_.run(); });
  }

  void wake() {
    if (woken_.exchange(true)) return;
    asio::post(io_, [this] {
      woken_ = false;
      for (const auto& courier : couriers_) courier->wake();
    });
  }

  asio::awaitable<std::vector<WebhookStatus>> status() {
    std::vector<WebhookStatus> all;
    for (const auto& courier : couriers_) all.push_back(courier->status());
    co_return all;
  }

  asio::awaitable<std::optional<Delivery>> test(std::string name, std::string cluster) {
    const auto found =
        std::ranges::find(couriers_, name, [](const auto& courier) { return courier->config().name; });
    if (found == couriers_.end()) co_return std::nullopt;
    const WebhookConfig& config = (*found)->config();
    const Notice notice = test_notice(SystemClock().now());
    const std::string id = random_hex(16);
    NoticeText text{id, std::string(to_string(notice.type)), payload(notice, id, cluster, std::nullopt)};
    std::shared_ptr<HttpClient> client;
    const std::string why = make_client(io_.get_executor(), config, client);
    if (!why.empty()) co_return Delivery{.error = why};
    if (stopping_) co_return Delivery{.error = "the coordinator stops"};
    trials_.insert(client);
    const Delivery delivery = co_await deliver(*client, config, std::move(text));
    trials_.erase(client);
    if (delivery.ok) (*found)->retry();
    co_return delivery;
  }

  asio::io_context& io() { return io_; }

 private:
  // Rows are deleted together: what is done while one commit is under way goes into the next.
  void done(std::int64_t row) {
    done_.push_back(row);
    if (!committing_) commit();
  }

  void commit() {
    committing_ = !done_.empty();
    if (!committing_) return;
    Commit turn;
    turn.delivered = std::exchange(done_, {});
    store_.commit(std::move(turn), [this] { asio::post(io_, [this] { commit(); }); });
  }

  Store& store_;
  WebhookReader reader_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<std::shared_ptr<Courier>> couriers_;
  std::set<std::shared_ptr<HttpClient>> trials_;  // of test(), under way
  bool stopping_ = false;
  std::vector<std::int64_t> done_;
  bool committing_ = false;
  std::atomic<bool> woken_ = false;
  std::thread thread_;
};

Webhooks::Webhooks(std::vector<WebhookConfig> configs, Store& store, const std::filesystem::path& home)
    : impl_(configs.empty() ? nullptr : std::make_unique<Impl>(std::move(configs), store, home)) {}

Webhooks::~Webhooks() = default;

void Webhooks::start() {
  if (impl_) impl_->start();
}

void Webhooks::wake() {
  if (impl_) impl_->wake();
}

asio::awaitable<std::vector<WebhookStatus>> Webhooks::status() {
  if (!impl_) co_return std::vector<WebhookStatus>{};
  co_return co_await asio::co_spawn(impl_->io(), impl_->status(), asio::use_awaitable);
}

asio::awaitable<std::optional<Delivery>> Webhooks::test(std::string name, std::string cluster) {
  if (!impl_) co_return std::nullopt;
  co_return co_await asio::co_spawn(impl_->io(), impl_->test(std::move(name), std::move(cluster)),
                                    asio::use_awaitable);
}

}  // namespace podium
