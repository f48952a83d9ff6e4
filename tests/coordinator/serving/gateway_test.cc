// The gateway on real sockets, in front of servers that answer as podium-worker serve does.
#include "coordinator/serving/gateway.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/net/http_client.h"
#include "common/net/problem.h"
#include "tests/common/net/server_fixture.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using nlohmann::json;

constexpr char kAsk[] = "/answers/classify";
constexpr char kRequest[] =
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
Replica::Does wait_for(std::shared_future<void> gate, int number) {
  return [gate, number](ServerRequest) -> asio::awaitable<ServerReply> {
    asio::steady_timer look(co_await asio::this_coro::executor);
    while (gate.wait_for(0s) != std::future_status::ready) {
      look.expires_after(2ms);
      co_await look.async_wait(asio::use_awaitable);
    }
    co_return Replica::json_reply({{"replica", number}});
  };
}

TEST_F(GatewayTest, HandsARequestOnWithTheSecretAndTheAnswerBack) {
  Replica replica(1);
  start();
  serve({replica.place()}, 1);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"replica":1})");
  EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(replica.last_body(), R"({"text": "one"})");
}

TEST_F(GatewayTest, AsksTheReplicaWithTheFewestRequestsUnderWay) {
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future().share();
  Replica busy(1, wait_for(gate, 1)), free(2);
  start();
  serve({busy.place()}, 1);
  std::vector<std::future<HttpResponse>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(std::async(std::launch::async, [this] { return post(); }));
  while (busy.asked() < 3) std::this_thread::sleep_for(1ms);
  serve({busy.place(), free.place()}, 2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post().body, R"({"replica":2})");
  EXPECT_EQ(busy.asked(), 3);
  open.set_value();
  for (auto& response : waiting) EXPECT_EQ(response.get().body, R"({"replica":1})");
}

TEST_F(GatewayTest, SharesRequestsAmongReplicasThatAreEquallyLoaded) {
  Replica one(1), two(2);
  start();
  serve({one.place(), two.place()}, 2);
  for (int i = 0; i < 10; ++i) post();
  EXPECT_EQ(one.asked(), 5);
  EXPECT_EQ(two.asked(), 5);
}

TEST_F(GatewayTest, AsksAnotherReplicaWhereOneDies) {
  auto dying = std::make_unique<Replica>(1);
  Replica lives(2);
  start();
  serve({dying->place(), lives.place()}, 2);
  const std::vector<ReplicaPlace> places{dying->place(), lives.place()};
  dying.reset();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post().body, R"({"replica":2})");
}

// As that of a process that was killed: the connection ends in the midst of a request.
TEST_F(GatewayTest, AsksAnotherReplicaWhereAConnectionEndsInTheMidst) {
  Replica broken(1, [](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply;
    reply.headers.set("Content-Type", "application/json");
    reply.next_piece = [sent = false]() mutable -> asio::awaitable<std::optional<std::string>> {
      if (std::exchange(sent, true)) throw std::runtime_error("the process is gone");
      co_return "{\"half\":";
    };
    co_return reply;
  });
  Replica lives(2);
  start();
  serve({broken.place(), lives.place()}, 2);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(post().body, R"({"replica":2})");
  EXPECT_GE(broken.asked(), 1);
}

TEST_F(GatewayTest, AsksAnotherReplicaWhereOneIsFullOrStops) {
  for (const int status : {429, 503}) {
    Replica full(1, [status](ServerRequest) -> asio::awaitable<ServerReply> {
      co_return Replica::json_reply({{"status", status}}, status);
    });
    Replica lives(2);
    start();
    serve({full.place(), lives.place()}, 2);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(post().body, R"({"replica":2})") << status;
    EXPECT_GE(full.asked(), 1);
    gateway_->stop(1s);
  }
}

TEST_F(GatewayTest, TellsThatAllReplicasAreFull) {
  const auto full = [](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply = Replica::json_reply({{"status", 429}}, 429);
    reply.headers.set("Retry-After", "3");
    co_return reply;
  };
  Replica one(1, full), two(2, full);
  start();
  serve({one.place(), two.place()}, 2);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.get("Retry-After"), "3");
  EXPECT_EQ(one.asked() + two.asked(), 2);
}

TEST_F(GatewayTest, ARefusalOfTheModelIsTheAnswer) {
  Replica one(1, [](ServerRequest) -> asio::awaitable<ServerReply> {
    co_return Replica::json_reply({{"detail", "/text: is missing"}}, 422);
  });
  Replica two(2, [](ServerRequest) -> asio::awaitable<ServerReply> {
    co_return Replica::json_reply({{"detail", "/text: is missing"}}, 422);
  });
  start();
  serve({one.place(), two.place()}, 2);
  EXPECT_EQ(post().status, 422);
  EXPECT_EQ(one.asked() + two.asked(), 1);
}

// One that was stopped, or whose node is cut off: connections stay, and nothing comes.
TEST_F(GatewayTest, AsksAnotherReplicaWhereOneFallsSilent) {
  Replica silent(1), lives(2);
  start();
  serve({silent.place(), lives.place()}, 2);
  silent.hangs = true;
  std::vector<std::future<HttpResponse>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(std::async(std::launch::async, [this] { return post(); }));
  for (auto& response : waiting) EXPECT_EQ(response.get().body, R"({"replica":2})");
  EXPECT_EQ(told().at("ready"), 1);
  std::this_thread::sleep_for(1100ms);
  EXPECT_FALSE(health().at(silent.attempt()).ready);
  EXPECT_GE(health().at(silent.attempt()).silent, 3s);
  silent.hangs = false;
  serve({silent.place(), lives.place()}, 2);
}

TEST_F(GatewayTest, ServerSentEventsPassAsTheyCome) {
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future().share();
  Replica replica(1, [gate](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply;
    reply.headers.set("Content-Type", "text/event-stream");
    const auto pieces = std::make_shared<int>(0);
    reply.next_piece = [gate, pieces]() -> asio::awaitable<std::optional<std::string>> {
      const int piece = ++*pieces;
      asio::steady_timer look(co_await asio::this_coro::executor);
      while (piece > 1 && gate.wait_for(0s) != std::future_status::ready) {
        look.expires_after(2ms);
        co_await look.async_wait(asio::use_awaitable);
      }
      if (piece > 2) co_return std::nullopt;
      co_return "data: " + std::to_string(piece) + "\n\n";
    };
    co_return reply;
  });
  start();
  serve({replica.place()}, 1);
  HttpRequest request;
  request.method = "POST";
  request.target = kAsk;
  request.headers.set("Content-Type", "application/json");
  request.body = "{}";
  std::vector<std::string> events;
  follow(url_, request, 10s, [&](const ServerEvent& event) {
    events.push_back(event.data);
    if (events.size() == 1) open.set_value();  // the second waits for the first to have arrived
    return true;
  });
  EXPECT_EQ(events, (std::vector<std::string>{"1", "2"}));
}

// What it had begun to say is left out, and where it is stays with the coordinator.
TEST_F(GatewayTest, AReplicaThatDiesInATextIsToldAsAnEvent) {
  Replica replica(1, [](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply;
    reply.headers.set("Content-Type", "text/event-stream");
    reply.next_piece = [sent = false]() mutable -> asio::awaitable<std::optional<std::string>> {
      if (std::exchange(sent, true)) throw std::runtime_error("the process is gone");
      co_return "data: 1\n\ndata: {\"text\": \"ha";
    };
    co_return reply;
  });
  start();
  serve({replica.place()}, 1);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 200);
  constexpr std::string_view kBegin = "data: 1\n\nevent: error\ndata: ";
  ASSERT_TRUE(response.body.starts_with(kBegin)) << response.body;
  ASSERT_TRUE(response.body.ends_with("\n\n"));
  const json told = json::parse(response.body.substr(kBegin.size()));
  EXPECT_EQ(told.at("status"), 503);
  EXPECT_EQ(told.at("detail"), "the text ends here: the replica is gone");
}

TEST_F(GatewayTest, AClientThatReadsTooSlowlyIsTold) {
  std::atomic<int> pieces = 0;
  Replica replica(1, [&pieces](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply;
    reply.headers.set("Content-Type", "text/event-stream");
    reply.next_piece = [&pieces]() -> asio::awaitable<std::optional<std::string>> {
      if (++pieces > 4000) co_return std::nullopt;
      co_return "data: " + std::string(16000, 'x') + "\n\n";  // 64 MB, more than sockets hold
    };
    co_return reply;
  });
  start();
  serve({replica.place()}, 1);
  RawClient client(url_);
  client.send(kRequest);
  for (int before = -1; pieces == 0 || pieces != before; std::this_thread::sleep_for(300ms)) before = pieces;
  const std::string answer = client.read_all();
  EXPECT_NE(answer.find("event: error"), std::string::npos);
  EXPECT_NE(answer.find("the client reads too slowly"), std::string::npos);
}

TEST_F(GatewayTest, AnAnswerBeyondAllMeasureIsNotKept) {
  Replica replica(1, [](ServerRequest) -> asio::awaitable<ServerReply> {
    ServerReply reply = Replica::json_reply({});
    reply.body = std::string(std::size_t{17} << 20, ' ');
    co_return reply;
  });
  start();
  serve({replica.place()}, 1);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("the answer is too large"), std::string::npos) << response.body;
}

TEST_F(GatewayTest, AClientThatLeavesIsGivenUpAtTheReplica) {
  std::atomic<bool> left = false;
  Replica replica(1, [&left](ServerRequest request) -> asio::awaitable<ServerReply> {
    asio::steady_timer never(co_await asio::this_coro::executor, 1h);
    const std::shared_ptr<ClientWatch> client = request.client;
    client->on_leave([&never] { never.cancel(); });
    try {
      co_await never.async_wait(asio::use_awaitable);
    } catch (const boost::system::system_error&) {
      left = true;
    }
    co_return ServerReply{};
  });
  start();
  serve({replica.place()}, 1);
  RawClient client(url_);
  client.send(kRequest);
  while (replica.asked() == 0) std::this_thread::sleep_for(1ms);
  client.close();
  for (int i = 0; i < 500 && !left; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(left);
  EXPECT_EQ(told().at("ready"), 1);  // the replica is not to blame
}

TEST_F(GatewayTest, AReplicaThatIsNotListedAnyMoreFinishesWhatItHas) {
  std::promise<void> open;
  Replica old(1, wait_for(open.get_future().share(), 1)), young(2);
  start();
  serve({old.place()}, 1);
  auto waiting = std::async(std::launch::async, [this] { return post(); });
  while (old.asked() == 0) std::this_thread::sleep_for(1ms);
  serve({young.place()}, 1);
  EXPECT_EQ(post().body, R"({"replica":2})");
  open.set_value();
  EXPECT_EQ(waiting.get().body, R"({"replica":1})");
}

TEST_F(GatewayTest, ARequestIsAskedOfAnotherWhereTheReplicaFallsSilentAfterItsEnd) {
  std::promise<void> open;
  Replica old(1, wait_for(open.get_future().share(), 1)), young(2);
  start();
  serve({old.place()}, 1);
  auto waiting = std::async(std::launch::async, [this] { return post(); });
  while (old.asked() == 0) std::this_thread::sleep_for(1ms);
  serve({young.place()}, 1);
  old.hangs = true;
  EXPECT_EQ(waiting.get().body, R"({"replica":2})");
  old.hangs = false;
  open.set_value();
}

// Each refuses at once, and so has the fewest requests under way.
TEST_F(GatewayTest, ManyReplicasThatStopDoNotHideTheOneThatServes) {
  const auto stops = [](ServerRequest) -> asio::awaitable<ServerReply> {
    co_return Replica::json_reply({{"status", 503}}, 503);
  };
  Replica one(1, stops), two(2, stops), three(3, stops), serves(4);
  start();
  serve({one.place(), two.place(), three.place(), serves.place()}, 4);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(post().body, R"({"replica":4})");
}

TEST_F(GatewayTest, OneThatIsNotReadyIsAskedNothing) {
  Replica loading(1), other(2);
  loading.ready = false;
  start();
  serve({loading.place(), other.place()}, 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post().body, R"({"replica":2})");
  loading.ready = true;
  serve({loading.place(), other.place()}, 2);
}

// Until the coordinator has read what there is.
TEST_F(GatewayTest, BeforeTheServicesAreKnownNoneIsDenied) {
  start();
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.get("Retry-After"), "1");
}

TEST_F(GatewayTest, ARefusalHasTheIdOfItsRequest) {
  Replica replica(1, [](ServerRequest request) -> asio::awaitable<ServerReply> {
    co_return problem(422, "/text: is missing", request.id);
  });
  start();
  serve({replica.place()}, 1);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(json::parse(response.body).at("request_id"), response.headers.get("X-Request-Id"));
  EXPECT_EQ(json::parse(response.body).at("detail"), "/text: is missing");
}

TEST_F(GatewayTest, WithoutAReplicaARequestIsToldToComeAgain) {
  start();
  serve({}, 0);
  const HttpResponse response = post();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.get("Retry-After"), "1");
  EXPECT_NE(response.body.find("no replica of answers is ready"), std::string::npos) << response.body;
}

// Another program that listens where a replica was answers no such path, or asks for another secret.
TEST_F(GatewayTest, AStrangerOnTheReplicasPortIsNotReady) {
  Replica replica(1);
  ReplicaPlace place = replica.place();
  place.secret = "another";
  start();
  serve({place}, 0);
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(told().at("ready"), 0);
  EXPECT_EQ(replica.asked(), 0);
}

TEST_F(GatewayTest, TellsTheHealthOfReplicas) {
  Replica replica(1);
  start();
  serve({replica.place()}, 1);
  for (int i = 0; i < 300 && !health()[replica.attempt()].ready; ++i) std::this_thread::sleep_for(10ms);
  const ReplicaHealth told = health().at(replica.attempt());
  EXPECT_TRUE(told.ready);
  EXPECT_EQ(told.queue_ms, 7.25);
  EXPECT_EQ(told.requests_per_second, 1.5);
  EXPECT_LT(told.silent, 2s);
}

TEST_F(GatewayTest, WantsOneOfItsTokens) {
  Replica replica(1);
  start({"first", "second"});
  gateway_->set_replicas({replica.place()}, {"answers"});
  for (int i = 0; i < 300 && !health()[replica.attempt()].ready; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(post().status, 401);
  EXPECT_EQ(post(kAsk, "{}", "third").status, 401);
  EXPECT_EQ(post(kAsk, "{}", "first").status, 200);
  EXPECT_EQ(post(kAsk, "{}", "second").status, 200);
  EXPECT_EQ(get("/answers").status, 401);
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(GatewayTest, RefusesWhatItDoesNotKnow) {
  Replica replica(1);
  start();
  serve({replica.place()}, 1);
  EXPECT_EQ(post("/question/classify").status, 404);
  EXPECT_NE(post("/question/classify").body.find("answers"), std::string::npos);
  EXPECT_EQ(post("/answers/classify/more").status, 404);
  EXPECT_EQ(post("/").status, 404);
  EXPECT_EQ(get("/answers/classify").status, 405);
  EXPECT_EQ(post("/answers").status, 405);
  EXPECT_EQ(post(kAsk, std::string((1 << 20) + 1, ' ')).status, 413);
  EXPECT_EQ(replica.asked(), 0);
}

// An endpoint cannot lead elsewhere at the replica, such as to its other paths.
TEST_F(GatewayTest, AnEndpointIsOnePartOfAPath) {
  std::atomic<int> strange = 0;
  TestServer replica({}, [&strange](ServerRequest request) -> asio::awaitable<ServerReply> {
    if (request.target == "/readyz") co_return ServerReply{};
    if (request.target == "/v1/load")
      co_return Replica::json_reply({{"models", {{"answers", {{"requests_per_second", 0}}}}}});
    if (request.target != "/v1/models/answers/..%2F..%2Fload") ++strange;
    co_return Replica::json_reply({}, 404);
  });
  start();
  serve({{{JobId{1}, 1}, "answers", {"127.0.0.1", replica.url().port}, "s"}}, 1);
  EXPECT_EQ(post("/answers/..%2F..%2Fload").status, 404);
  EXPECT_EQ(strange, 0);
}

TEST_F(GatewayTest, ManyClientsAtOnce) {
  Replica one(1), two(2), three(3);
  start();
  serve({one.place(), two.place(), three.place()}, 3);
  std::atomic<int> answered = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 16; ++i)
    clients.emplace_back([&] {
      for (int k = 0; k < 25; ++k) answered += post().status == 200 ? 1 : 0;
    });
  clients.clear();
  EXPECT_EQ(answered, 400);
  EXPECT_EQ(one.asked() + two.asked() + three.asked(), 400);
}

}  // namespace
}  // namespace podium
