// Answers on their way through the gateway: events as they come, large ones, and clients that leave.
#include "tests/coordinator/serving/gateway_fixture.h"

namespace podium::serving_test {
namespace {

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

}  // namespace
}  // namespace podium::serving_test
