#include "common/net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <future>
#include <stdexcept>

#include "tests/common/net/server_fixture.h"

namespace podium {
namespace {

using boost::asio::awaitable;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// "/echo" gives the body back, "/throw" throws, "/slow" waits, "/count" streams one, two, three; else the
// target.
awaitable<ServerReply> serve(ServerRequest request) {
  ServerReply reply;
  reply.headers.set("Content-Type", "text/plain");
  if (request.target == "/throw") throw std::runtime_error("a secret of the implementation");
  if (request.target == "/slow") {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, milliseconds(200));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  if (request.target == "/count") {
    reply.next_piece = [n = 0]() mutable -> awaitable<std::optional<std::string>> {
      static constexpr std::array kWords{"one", "two", "three"};
      if (n == 3) co_return std::nullopt;
      co_return kWords[static_cast<std::size_t>(n++)];
    };
    co_return reply;
  }
  reply.body = request.target == "/echo" ? request.body : request.target;
  co_return reply;
}

ServerOptions quick_options() {
  ServerOptions options;
  options.header_timeout = options.body_timeout = milliseconds(300);
  return options;
}

int count_of(const std::string& text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string talk(TestServer& server, std::string_view bytes) {
  RawClient client(server.url());
  client.send(bytes);
  return client.read_all();
}

TEST(HttpServer, KeepsAConnectionAndAnswersPipelinedRequestsInOrder) {
  TestServer server({}, serve);
  const std::string text = talk(server,
                                "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\n"
                                "Content-Length: 2\r\n\r\nhi"
                                "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(count_of(text, "HTTP/1.1 200"), 3);
  EXPECT_LT(text.find("\r\n\r\n/a"), text.find("\r\n\r\nhi"));
  EXPECT_LT(text.find("\r\n\r\nhi"), text.find("\r\n\r\n/b"));
}

// A server whose handler waits until its client has left, or for the time that a target of digits says in ms,
// and answers whether the client has left.
class WatchedClients : public testing::Test {
 protected:
  static ServerOptions watching() {
    ServerOptions options;
    options.watch_clients = true;
    return options;
  }

  awaitable<ServerReply> answer(ServerRequest request) {
    const long wait = std::atol(request.target.c_str() + 1);
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, milliseconds(wait));
    request.client->on_leave([&] { timer.cancel(); });
    boost::system::error_code cancelled;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
    request.client->on_leave(nullptr);
    ServerReply reply;
    reply.body = request.client->has_left() ? "left" : "there";
    if (request.client->has_left()) left_.set_value();
    co_return reply;
  }

  std::promise<void> left_;
  TestServer server_{watching(), [this](ServerRequest request) { return answer(std::move(request)); }};
};

constexpr char kEndless[] = "GET /3600000 HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr char kShort[] = "GET /50 HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(WatchedClients, ThatLeaveAreNoticed) {
  RawClient client(server_.url());
  client.send(kEndless);
  client.close();
  left_.get_future().wait();
}

TEST_F(WatchedClients, ThatLeaveLaterAreNoticed) {
  RawClient client(server_.url());
  for (int i = 0; i < 3; ++i) {
    client.send(kShort);
    EXPECT_THAT(client.read_some(), HasSubstr("there"));
  }
  client.send(kEndless);
  auto left = left_.get_future();
  EXPECT_EQ(left.wait_for(milliseconds(50)), std::future_status::timeout);
  client.close();
  left.wait();
}

TEST_F(WatchedClients, ThatSendTheirNextRequestAreThere) {
  const std::string text = talk(
      server_, std::string(kShort) + kShort + "GET /50 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(count_of(text, "there"), 3);
}

TEST(HttpServer, SaysWhenItAnswered) {
  TestServer server({}, serve);
  const std::string text = talk(server, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::tm told{};
  const std::size_t at = text.find("\r\nDate: ");
  ASSERT_NE(at, std::string::npos);
  ASSERT_NE(strptime(text.c_str() + at + 8, "%a, %d %b %Y %H:%M:%S GMT\r\n", &told), nullptr);
  EXPECT_LE(std::abs(std::difftime(timegm(&told), std::time(nullptr))), 60);
}

TEST(HttpServer, AnswersHeadWithTheLengthAndNoBody) {
  TestServer server({}, serve);
  const std::string text = talk(server, "HEAD /four HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(text, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_EQ(text.substr(text.find("\r\n\r\n")), "\r\n\r\n");
}

TEST(HttpServer, RefusesWhatIsNotHttp) {
  TestServer server({}, serve);
  for (const char* bytes :
       {"\x16\x03\x01 tls hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nbad header\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "GET / HTTP/1.1\r\n\r\n"}) {
    const std::string text = talk(server, bytes);
    EXPECT_THAT(text, StartsWith("HTTP/1.1 400")) << bytes;
    EXPECT_THAT(text, HasSubstr("application/problem+json")) << bytes;
    EXPECT_THAT(text, HasSubstr("request_id")) << bytes;
  }
}

TEST(HttpServer, BoundsHeaderAndBody) {
  ServerOptions options;
  options.max_body = 1000;
  TestServer server(options, serve);
  const std::string big_header = "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n";
  EXPECT_THAT(talk(server, big_header), StartsWith("HTTP/1.1 431"));
  const std::string announced = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n";
  EXPECT_THAT(talk(server, announced + std::string(1001, 'a')), StartsWith("HTTP/1.1 413"));
  const std::string chunked = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5dc\r\n" +
                              std::string(1500, 'a') + "\r\n0\r\n\r\n";
  EXPECT_THAT(talk(server, chunked), StartsWith("HTTP/1.1 413"));
  const std::string fits =
      "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_THAT(talk(server, fits + std::string(1000, 'a')), StartsWith("HTTP/1.1 200"));
}

std::string post_of(const std::string& target, std::size_t length) {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

// 100 unfinished bodies of 8 MiB without a token took 840 MB.
TEST(HttpServer, RefusesByTheHeaderBeforeItTakesTheBody) {
  const auto check = [](const ServerRequest& head) -> std::optional<ServerReply> {
    if (head.headers.get("Authorization") == "yes") return std::nullopt;
    ServerReply reply;
    reply.status = 401;
    return reply;
  };
  TestServer server({}, serve, {.check = check});
  RawClient stranger(server.url());
  stranger.send(post_of("/echo", 1'000'000));  // and nothing of its body
  EXPECT_THAT(stranger.read_some(), StartsWith("HTTP/1.1 401"));
  const std::string twice = talk(server,
                                 "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
                                 "GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(count_of(twice, "HTTP/1.1 401"), 2) << "without a body the connection goes on";
  const std::string known =
      talk(server,
           "POST /echo HTTP/1.1\r\nHost: a\r\nAuthorization: yes\r\nContent-Length: 2\r\nConnection: "
           "close\r\n\r\nhi");
  EXPECT_THAT(known, StartsWith("HTTP/1.1 200"));
}

TEST(HttpServer, ABodyOf100MegabytesGetsIts413) {
  TestServer server({}, serve);
  RawClient client(server.url());
  constexpr std::size_t kSize = 100'000'000;
  ASSERT_TRUE(client.send(post_of("/echo", kSize)));
  const std::string piece(1'000'000, 'x');
  for (std::size_t sent = 0; sent < kSize; sent += piece.size()) ASSERT_TRUE(client.send(piece)) << sent;
  EXPECT_THAT(client.read_some(), StartsWith("HTTP/1.1 413"));
}

TEST(HttpServer, RefusesTwoOfAFieldThatDecides) {
  TestServer server({}, serve);
  for (const char* field : {"Host: b", "Authorization: Bearer x\r\nAuthorization: Bearer y", "host: a",
                            "Origin: http://a\r\nOrigin: http://b"})
    EXPECT_THAT(talk(server, std::string("GET / HTTP/1.1\r\nHost: a\r\n") + field + "\r\n\r\n"),
                StartsWith("HTTP/1.1 400"))
        << field;
}

TEST(HttpServer, LargeBodiesShareBoundedRoomAndSmallOnesNeedNone) {
  ServerOptions options;
  options.small_body = 100;
  options.max_bodies = 1500;
  TestServer server(options, serve);
  RawClient first(server.url());
  first.send(post_of("/echo", 1000) + std::string(10, 'x'));
  const std::string close = "Connection: close\r\n";
  const auto ask = [&](std::size_t length) {
    std::string request = post_of("/echo", length);
    request.insert(request.find("Host"), close);
    return talk(server, request + std::string(length, 'y'));
  };
  // The first request's header may still be on its way.
  std::string second = ask(1000);
  while (second.starts_with("HTTP/1.1 200")) second = ask(1000);
  EXPECT_THAT(second, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(second, HasSubstr("Retry-After"));
  EXPECT_THAT(ask(100), StartsWith("HTTP/1.1 200"));
  first.send(std::string(990, 'x'));
  EXPECT_THAT(first.read_some(), StartsWith("HTTP/1.1 200"));
  std::string third = ask(1000);
  while (third.starts_with("HTTP/1.1 503")) third = ask(1000);
  EXPECT_THAT(third, StartsWith("HTTP/1.1 200"));
}

TEST(HttpServer, CutsOffClientsThatDribble) {
  TestServer server(quick_options(), serve);
  RawClient client(server.url());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n");
  const auto begin = std::chrono::steady_clock::now();
  while (client.send("X: y\r\n")) {
    std::this_thread::sleep_for(milliseconds(20));
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(60)) FAIL() << "never cut off";
  }
  RawClient body_client(server.url());
  body_client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(body_client.read_all(), "");
}

TEST(HttpServer, ClosesIdleConnectionsSilently) {
  ServerOptions options;
  options.idle_timeout = milliseconds(100);
  TestServer server(options, serve);
  EXPECT_EQ(RawClient(server.url()).read_all(), "");
}

TEST(HttpServer, SaysContinueWhenAsked) {
  TestServer server({}, serve);
  RawClient client(server.url());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: "
      "2\r\n\r\n");
  EXPECT_THAT(client.read_some(), StartsWith("HTTP/1.1 100"));
  client.send("ok");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200"));
}

TEST(HttpServer, TurnsWhatEscapesIntoA500ThatTellsNothing) {
  TestServer server({}, serve);
  const HttpResponse response =
      fetch(server.url(), {"GET", "/throw", {}, "", false}, std::chrono::seconds(20));
  EXPECT_EQ(response.status, 500);
  EXPECT_THAT(response.body, testing::Not(HasSubstr("secret of the implementation")));
  EXPECT_THAT(response.body, HasSubstr(response.headers.get("x-request-id")));
}

TEST(HttpServer, StreamsInChunksAndKeepsTheConnection) {
  TestServer server({}, serve);
  const std::string text = talk(server,
                                "GET /count HTTP/1.1\r\nHost: x\r\n\r\n"
                                "GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(text, HasSubstr("3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n"));
  EXPECT_THAT(text, HasSubstr("/after"));
}

TEST(HttpServer, StreamsToOldClientsByClosing) {
  TestServer server({}, serve);
  const std::string text = talk(server, "GET /count HTTP/1.0\r\n\r\n");
  EXPECT_THAT(text, HasSubstr("\r\n\r\nonetwothree"));
}

TEST(HttpServer, RefusesConnectionsBeyondItsLimitAndRecovers) {
  ServerOptions options;
  options.max_connections = 2;
  TestServer server(options, serve);
  auto first = std::make_unique<RawClient>(server.url());
  RawClient second(server.url());
  for (RawClient* client : {first.get(), &second}) {
    client->send("GET /in HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client->read_some(), HasSubstr("200 OK"));
  }
  const std::string refusal = RawClient(server.url()).read_all();
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(refusal, HasSubstr("Retry-After: 1"));
  first.reset();
  std::string text;
  while (!testing::Value(text, HasSubstr("200 OK")))
    text = talk(server, "GET /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

TEST(HttpServer, StopsAfterTheAnswersUnderWay) {
  std::atomic<int> entered = 0;
  auto server = std::make_unique<TestServer>(ServerOptions{}, [&](ServerRequest request) {
    ++entered;
    return serve(std::move(request));
  });
  RawClient idle(server->url());
  RawClient busy(server->url());
  busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  while (entered == 0) std::this_thread::sleep_for(milliseconds(1));
  server.reset();
  EXPECT_EQ(idle.read_all(), "");
  const std::string text = busy.read_all();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(text, HasSubstr("Connection: close"));
}

TEST(HttpServer, ServesManyAtOnce) {
  TestServer server({}, serve);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string body(static_cast<std::size_t>(t * 1000 + i), 'x');
        good +=
            fetch(server.url(), {"POST", "/echo", {}, body, false}, std::chrono::seconds(60)).body == body;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 400);
}

TEST(HttpServer, SaysWhichAddressIsTaken) {
  TestServer server({}, serve);
  boost::asio::io_context io;
  ServerOptions options;
  options.listen.port = server.url().port;
  try {
    HttpServer second(io.get_executor(), options, serve);
    FAIL() << "listened twice";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("127.0.0.1:" + std::to_string(options.listen.port) + ": Address already in use"));
  }
}

TEST(HttpServer, ListensOnTheAddressOfAName) {
  boost::asio::io_context io;
  ServerOptions options;
  options.listen.host = "localhost";
  const HttpServer named(io.get_executor(), options, serve);
  EXPECT_GT(named.port(), 0);
  options.listen.host = std::string(300, 'a');  // longer than any name
  try {
    HttpServer unknown(io.get_executor(), options, serve);
    FAIL() << "listened";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot listen on aaaa"));
  }
}

}  // namespace
}  // namespace podium
