// Where a replica dies, is full, stops or falls silent, another one is asked.
#include "tests/coordinator/serving/gateway_fixture.h"

namespace podium::serving_test {
namespace {

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

}  // namespace
}  // namespace podium::serving_test
