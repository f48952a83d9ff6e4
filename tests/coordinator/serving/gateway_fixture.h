// The gateway on real sockets, in front of servers that answer as podium-worker serve does.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/net/http_client.h"
#include "coordinator/serving/gateway.h"
#include "tests/common/net/server_fixture.h"

namespace podium::serving_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using nlohmann::json;

inline constexpr char kAsk[] = "/answers/classify";
inline constexpr char kRequest[] =
    "POST /answers/classify HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

// A replica of the service "answers". What it does to a request is `does`, on its own thread.
class Replica {
 public:
  using Does = std::function<asio::awaitable<ServerReply>(ServerRequest)>;

  explicit Replica(int number, Does does = {})
      : number_(number), does_(std::move(does)), server_(options(), handler()) {}

  ReplicaPlace place() const {
    return {{JobId{number_}, 1}, "answers", {"127.0.0.1", server_.url().port}, secret()};
  }
  AttemptId attempt() const { return place().attempt; }
  int asked() const { return asked_; }
  std::string last_body() const {
    const std::lock_guard lock(mutex_);
    return last_body_;
  }
  std::atomic<bool> ready = true;
  std::atomic<bool> hangs = false;  // answers nothing at all any more
  asio::io_context& io() { return server_.io(); }

  static ServerReply json_reply(const json& body, int status = 200) {
    ServerReply reply;
    reply.status = status;
    reply.headers.set("Content-Type", "application/json");
    reply.body = body.dump();
    return reply;
  }

 private:
  static ServerOptions options() {
    ServerOptions options;
    options.watch_clients = true;
    return options;
  }
  std::string secret() const { return "secret-" + std::to_string(number_); }
  HttpHandler handler() {
    return [this](ServerRequest request) { return answer(std::move(request)); };
  }
  asio::awaitable<ServerReply> answer(ServerRequest request) {
    if (hangs) {
      asio::steady_timer never(server_.io(), 1h);
      const std::shared_ptr<ClientWatch> client = request.client;
      client->on_leave([&never] { never.cancel(); });
      try {
        co_await never.async_wait(asio::use_awaitable);
      } catch (const boost::system::system_error&) {
      }
      co_return ServerReply{};
    }
    if (request.target == "/readyz") {
      ServerReply reply;
      reply.status = ready ? 200 : 503;
      co_return reply;
    }
    if (request.headers.get("Authorization") != "Bearer " + secret()) co_return json_reply({}, 401);
    if (request.target == "/v1/load")
      co_return json_reply({{"models",
                             {{"answers",
                               {{"requests", 10},
                                {"requests_per_second", 1.5},
                                {"failed", 0},
                                {"waiting", 0},
                                {"queue_ms", {{"p50", 1.0}, {"p90", 7.25}, {"p99", 9.0}}}}}}}});
    EXPECT_EQ(request.target, "/v1/models/answers/classify");
    {
      const std::lock_guard lock(mutex_);
      last_body_ = request.body;
    }
    ++asked_;
    if (does_) co_return co_await does_(std::move(request));
    co_return json_reply({{"replica", number_}});
  }

  int number_;
  Does does_;
  std::atomic<int> asked_ = 0;
  mutable std::mutex mutex_;
  std::string last_body_;
  TestServer server_;
};

class GatewayTest : public testing::Test {
 protected:
  void TearDown() override {
    if (gateway_) gateway_->stop(1s);
  }

  void start(std::vector<std::string> tokens = {}) {
    gateway_ = std::make_unique<Gateway>(GatewayOptions{.tokens = std::move(tokens)},
                                         [this](const ReplicasHealth& health) {
                                           const std::lock_guard lock(mutex_);
                                           health_ = health;
                                         });
    url_ = parse_url(gateway_->address()).value();
  }

  // And waits until so many are ready.
  void serve(const std::vector<ReplicaPlace>& replicas, int ready) {
    gateway_->set_replicas(replicas, {"answers"});
    for (int i = 0; i < 500 && told().value("ready", 0) != ready; ++i) std::this_thread::sleep_for(10ms);
    ASSERT_EQ(told().value("ready", 0), ready);
  }

  json told() { return json::parse(get("/answers").body); }

  HttpResponse get(const std::string& path) {
    HttpRequest request;
    request.target = path;
    return fetch(url_, request, 10s);
  }

  HttpResponse post(const std::string& path = kAsk, const std::string& body = R"({"text": "one"})",
                    const std::string& token = "") {
    HttpRequest request;
    request.method = "POST";
    request.target = path;
    request.headers.set("Content-Type", "application/json");
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    request.body = body;
    return fetch(url_, request, 20s);
  }

  ReplicasHealth health() {
    const std::lock_guard lock(mutex_);
    return health_;
  }

  std::unique_ptr<Gateway> gateway_;
  Url url_;
  std::mutex mutex_;
  ReplicasHealth health_;
};

// Answers once `gate` is opened.
inline Replica::Does wait_for(std::shared_future<void> gate, int number) {
  return [gate, number](ServerRequest) -> asio::awaitable<ServerReply> {
    asio::steady_timer look(co_await asio::this_coro::executor);
    while (gate.wait_for(0s) != std::future_status::ready) {
      look.expires_after(2ms);
      co_await look.async_wait(asio::use_awaitable);
    }
    co_return Replica::json_reply({{"replica", number}});
  };
}

}  // namespace podium::serving_test
