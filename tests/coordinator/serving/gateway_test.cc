// Which replica the gateway asks, what it tells of them, and what it refuses.
#include "common/net/problem.h"
#include "tests/coordinator/serving/gateway_fixture.h"

namespace podium::serving_test {
namespace {

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
}  // namespace podium::serving_test
