#include "coordinator/serving/replica_link.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/base/logging.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{1'000};
constexpr milliseconds kLookUntilReady{200};
constexpr milliseconds kLookTimeout{2'000};
// A replica that has been silent for so long is asked nothing, and what it was asked is asked of another.
constexpr milliseconds kSilent{4'000};
// Longer than any timeout_ms of a request, which the replica holds itself.
constexpr milliseconds kAnswerTimeout{3'700'000};
constexpr std::size_t kMostIdle = 64;  // kept connections

Url url_of(const HostPort& address) { return {false, address.host, address.port, "/"}; }

}  // namespace

ReplicaLink::ReplicaLink(asio::any_io_executor executor, ReplicaPlace place)
    : executor_(std::move(executor)),
      place_(std::move(place)),
      looks_(executor_, url_of(place_.address)),
      next_look_(executor_) {}

void ReplicaLink::start() {
  spawn(executor_, "looking after replica " + to_string(place_.attempt), look_after(shared_from_this()));
}

void ReplicaLink::retire() {
  retired_ = true;
  next_look_.cancel();
  idle_.clear();
}

void ReplicaLink::close() {
  closed_ = true;
  retire();
  looks_.cancel();
  break_off();
}

void ReplicaLink::doubt() {
  ready_ = false;
  next_look_.cancel();
}

void ReplicaLink::break_off() {
  const auto busy = busy_;  // a request that is broken off leaves it
  for (const auto& client : busy) client->cancel();
}

ReplicaHealth ReplicaLink::health() const {
  ReplicaHealth health = told_;
  health.ready = takes_requests();
  health.silent = std::chrono::duration_cast<Duration>(SteadyClock::now() - answered_);
  health.in_flight = in_flight();
  return health;
}

asio::awaitable<void> ReplicaLink::look_after(std::shared_ptr<ReplicaLink> self) {
  while (!self->closed_ && (!self->retired_ || !self->busy_.empty())) {
    co_await self->look();
    self->next_look_.expires_after(self->ready_ ? kLookEvery : kLookUntilReady);
    co_await self->next_look_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<void> ReplicaLink::look() {
  std::optional<NetFailure> failure;
  try {
    HttpRequest readiness;
    readiness.target = "/readyz";
    const HttpResponse ready = co_await looks_.request(std::move(readiness), kLookTimeout);
    HttpRequest of_load;
    of_load.target = "/v1/load";
    of_load.headers.set("Authorization", "Bearer " + place_.secret);
    const HttpResponse load = co_await looks_.request(std::move(of_load), kLookTimeout);
    answered_ = SteadyClock::now();
    ready_ = ready.ok() && load.ok();
    told_ = {};
    if (!load.ok()) co_return;
    const json model = json::parse(load.body).at("models").at(place_.service);
    told_.requests_per_second = model.at("requests_per_second").get<double>();
    if (model.contains("queue_ms")) told_.queue_ms = model.at("queue_ms").at("p90").get<double>();
  } catch (const NetError& error) {
    failure = error.failure();
  } catch (const json::exception&) {
    ready_ = false;  // another program has the port
  }
  if (!failure) co_return;
  if (*failure != NetFailure::timed_out) ready_ = false;
  if (SteadyClock::now() - answered_ < kSilent) co_return;
  if (!busy_.empty())
    spdlog::warn("replica {} of {} is silent: its {} requests are asked of others", to_string(place_.attempt),
                 place_.service, busy_.size());
  ready_ = false;
  break_off();
}

std::shared_ptr<HttpClient> ReplicaLink::take_client() {
  std::shared_ptr<HttpClient> client;
  if (idle_.empty()) {
    client = std::make_shared<HttpClient>(executor_, url_of(place_.address));
  } else {
    client = std::move(idle_.back());
    idle_.pop_back();
  }
  busy_.insert(client);
  return client;
}

void ReplicaLink::ask(HttpRequest request, std::shared_ptr<Relay> relay) {
  request.headers.set("Authorization", "Bearer " + place_.secret);
  request.repeatable = true;  // a kept connection may be dead
  spawn(executor_, "a request of replica " + to_string(place_.attempt),
        carry(shared_from_this(), std::move(request), std::move(relay)));
}

asio::awaitable<void> ReplicaLink::carry(std::shared_ptr<ReplicaLink> self, HttpRequest request,
                                         std::shared_ptr<Relay> relay) {
  const std::shared_ptr<HttpClient> client = self->take_client();
  relay->on_break_off([client] { client->cancel(); });
  // Named, because GCC 12 destroys a closure that is made within a co_await twice.
  const std::function<bool(std::string_view)> on_data = [relay](std::string_view bytes) {
    return relay->add(bytes);
  };
  const std::function<void(const HttpResponse&)> on_head = [relay](const HttpResponse& head) {
    relay->begin(head);
  };
  try {
    HttpResponse response = co_await client->stream(std::move(request), kAnswerTimeout, on_data, on_head);
    relay->end(std::move(response));
  } catch (const NetError& error) {
    if (error.failure() != NetFailure::cancelled)
      spdlog::info("a request of {}: {}", self->place_.service, error.what());
    if (error.failure() == NetFailure::unreachable || error.failure() == NetFailure::broken) self->doubt();
    relay->fail("the replica is gone");
  }
  relay->on_break_off({});
  self->busy_.erase(client);
  if (self->retired_) self->next_look_.cancel();
  if (!self->retired_ && self->idle_.size() < kMostIdle) self->idle_.push_back(client);
}

}  // namespace podium
