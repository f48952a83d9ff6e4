// Bodies that go to a RequestSink, and the form of replies, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tests/common/net/server_fixture.h"

namespace podium {
namespace {

using boost::asio::awaitable;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kPiece = 256 * 1024;

// What became of the bodies; written on the server's thread.
struct Record {
  std::mutex mutex;
  std::condition_variable changed;
  std::string taken;
  std::size_t longest = 0;
  int made = 0, finished = 0, ended = 0;

  template <class Condition>
  void wait_for(const Condition& condition) {
    std::unique_lock lock(mutex);
    changed.wait(lock, condition);
  }
};

// Answers with the size of the body. To "/refuse" it takes one piece, "/throw" and "/late" fail in take() and
// finish().
class Sink final : public RequestSink {
 public:
  Sink(Record& record, std::string target) : record_(record), target_(std::move(target)) {
    note([&] { ++record_.made; });
  }
  ~Sink() override {
    note([&] { ++record_.ended; });
  }

  std::uint64_t most() const override { return 3'000'000; }

  awaitable<std::optional<ServerReply>> take(std::string piece) override {
    note([&] {
      record_.taken += piece;
      record_.longest = std::max(record_.longest, piece.size());
    });
    if (target_ == "/throw") throw std::runtime_error("a secret of take()");
    if (target_ != "/refuse") co_return std::nullopt;
    ServerReply reply;
    reply.status = 409;
    co_return reply;
  }

  awaitable<ServerReply> finish() override {
    note([&] { ++record_.finished; });
    if (target_ == "/late") throw std::runtime_error("a secret of finish()");
    ServerReply reply;
    reply.body = std::to_string(record_.taken.size()) + " bytes";
    co_return reply;
  }

 private:
  template <class Change>
  void note(const Change& change) {
    const std::lock_guard lock(record_.mutex);
    change();
    record_.changed.notify_all();
  }

  Record& record_;
  std::string target_;
};

class RequestSinkTest : public testing::Test {
 protected:
  static awaitable<ServerReply> serve(ServerRequest request) {
    ServerReply reply;
    reply.body = "in memory: " + request.body;
    co_return reply;
  }

  // Only PUT goes to a sink.
  ServerHooks hooks() {
    return {.sink = [this](const ServerRequest& head) -> std::shared_ptr<RequestSink> {
      if (head.method != "PUT") return nullptr;
      return std::make_shared<Sink>(record_, head.target);
    }};
  }

  void start(ServerOptions options = {}) { server_.emplace(std::move(options), &serve, hooks()); }

  static std::string put(const std::string& target, std::size_t length, const std::string& more = "") {
    return "PUT " + target + " HTTP/1.1\r\nHost: x\r\n" + more + "Content-Length: " + std::to_string(length) +
           "\r\n\r\n";
  }

  std::string talk(std::string_view bytes) {
    RawClient client(server_->url());
    client.send(bytes);
    return client.read_all();
  }

  static std::string pattern(std::size_t length) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
  }

  Record record_;
  std::optional<TestServer> server_;
};

const std::string kLast = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";

TEST_F(RequestSinkTest, TakesALongBodyInPiecesAndTheConnectionGoesOn) {
  start();
  const std::string body = pattern(1'000'001);
  const std::string text = talk(put("/a", body.size()) + body + kLast);
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(text, HasSubstr("1000001 bytes"));
  EXPECT_THAT(text, HasSubstr("in memory: hi"));
  EXPECT_EQ(record_.taken, body);
  EXPECT_LE(record_.longest, kPiece);
  EXPECT_EQ(record_.made, 1);
  EXPECT_EQ(record_.finished, 1);
}

TEST_F(RequestSinkTest, TakesChunks) {
  start();
  const std::string body = pattern(700'000);
  std::string request = "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < body.size(); at += 100'000)
    request += "186a0\r\n" + body.substr(at, 100'000) + "\r\n";
  const std::string text = talk(request + "0\r\n\r\n" + kLast);
  EXPECT_THAT(text, HasSubstr("700000 bytes"));
  EXPECT_THAT(text, HasSubstr("in memory: hi"));
  EXPECT_EQ(record_.taken, body);
}

TEST_F(RequestSinkTest, TakesBodiesOfExactlyAPieceAndOfNothing) {
  start();
  EXPECT_THAT(talk(put("/a", kPiece, "Connection: close\r\n") + pattern(kPiece)), HasSubstr("262144 bytes"));
  record_.taken.clear();
  EXPECT_THAT(talk(put("/a", 0, "Connection: close\r\n")), HasSubstr("0 bytes"));
  EXPECT_THAT(talk("PUT /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), HasSubstr("0 bytes"));
  EXPECT_EQ(record_.finished, 3);
}

TEST_F(RequestSinkTest, SaysContinueWhenAsked) {
  start();
  RawClient client(server_->url());
  client.send(put("/a", 2, "Connection: close\r\nExpect: 100-continue\r\n"));
  EXPECT_THAT(client.read_some(), StartsWith("HTTP/1.1 100"));
  client.send("ok");
  EXPECT_THAT(client.read_all(), HasSubstr("2 bytes"));
}

TEST_F(RequestSinkTest, RefusesWhatIsLargerThanTheSinkTakes) {
  ServerOptions options;
  options.max_body = 10;  // of bodies in memory
  start(options);
  EXPECT_THAT(talk(put("/a", 3'000'001) + "x"), StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(record_.taken, "") << "an announced size is refused before the body";
  const std::string chunks =
      talk("PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1e8480\r\n" + pattern(2'000'000) +
           "\r\nf4241\r\n" + pattern(1'000'001) + "\r\n0\r\n\r\n");
  EXPECT_THAT(chunks, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(chunks, HasSubstr("larger than 3000000 bytes"));
  EXPECT_EQ(record_.finished, 0);
  EXPECT_EQ(record_.ended, 2);
  EXPECT_THAT(talk("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(talk(put("/a", 3'000'000, "Connection: close\r\n") + pattern(3'000'000)),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(RequestSinkTest, LearnsThatTheClientIsGone) {
  start();
  RawClient client(server_->url());
  client.send(put("/a", 1'000'000) + pattern(300'000));
  record_.wait_for([&] { return !record_.taken.empty(); });
  client.close();
  record_.wait_for([&] { return record_.ended == 1; });
  EXPECT_EQ(record_.finished, 0);
}

TEST_F(RequestSinkTest, CutsOffAClientThatTakesTooLongOverAPiece) {
  ServerOptions options;
  options.body_timeout = milliseconds(200);
  start(options);
  RawClient client(server_->url());
  client.send(put("/a", 1'000'000));
  while (client.send("x")) std::this_thread::sleep_for(milliseconds(20));
  record_.wait_for([&] { return record_.ended == 1; });
  EXPECT_EQ(record_.finished, 0);
}

// Four pieces, each of which comes within the time for one.
TEST_F(RequestSinkTest, GivesASlowClientTheTimeOfAPieceForEach) {
  ServerOptions options;
  options.body_timeout = milliseconds(1000);
  start(options);
  RawClient client(server_->url());
  client.send(put("/a", 4 * kPiece, "Connection: close\r\n"));
  for (int i = 0; i < 4; ++i) {
    std::this_thread::sleep_for(milliseconds(400));
    client.send(pattern(kPiece));
  }
  EXPECT_THAT(client.read_all(), HasSubstr("1048576 bytes"));
}

TEST_F(RequestSinkTest, MayRefuseTheRest) {
  start();
  const std::string text = talk(put("/refuse", 1'000'000) + pattern(1'000'000) + kLast);
  EXPECT_THAT(text, StartsWith("HTTP/1.1 409"));
  EXPECT_THAT(text, HasSubstr("Connection: close"));
  EXPECT_EQ(record_.taken.size(), kPiece);
  EXPECT_EQ(record_.finished, 0);
  // After the last piece nothing is unread.
  const std::string whole = talk(put("/refuse", 10) + pattern(10) + kLast);
  EXPECT_THAT(whole, HasSubstr("in memory: hi"));
}

TEST_F(RequestSinkTest, ThatFailsTellsNothing) {
  start();
  for (const char* target : {"/throw", "/late"}) {
    const std::string text = talk(put(target, 10, "Connection: close\r\n") + pattern(10));
    EXPECT_THAT(text, StartsWith("HTTP/1.1 500"));
    EXPECT_THAT(text, testing::Not(HasSubstr("secret")));
  }
}

TEST_F(RequestSinkTest, IsNotMadeForARequestThatIsRefused) {
  ServerHooks strict = hooks();
  strict.check = [](const ServerRequest&) -> std::optional<ServerReply> {
    ServerReply reply;
    reply.status = 401;
    return reply;
  };
  server_.emplace(ServerOptions{}, &serve, strict);
  EXPECT_THAT(talk(put("/a", 10'000'000)), StartsWith("HTTP/1.1 401"));
  EXPECT_EQ(record_.made, 0);
}

TEST_F(RequestSinkTest, CountsAPieceOfEachBodyAgainstARoomOfItsOwn) {
  ServerOptions options;
  options.max_pieces = kPiece + 1000;
  options.max_bodies = 0;
  start(options);
  RawClient first(server_->url());
  first.send(put("/a", 1'000'000) + pattern(300'000));
  record_.wait_for([&] { return !record_.taken.empty(); });
  EXPECT_THAT(talk(put("/b", 1'000'000)), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(talk(put("/b", 1001)), StartsWith("HTTP/1.1 503")) << "short ones count, too";
  EXPECT_THAT(talk(put("/b", 1000, "Connection: close\r\n") + pattern(1000)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(talk(kLast), StartsWith("HTTP/1.1 200")) << "bodies in memory have their own";
  first.send(pattern(700'000));
  EXPECT_THAT(first.read_some(), StartsWith("HTTP/1.1 200"));
}

TEST_F(RequestSinkTest, TheFormOfRepliesIsThatOfTheHook) {
  ServerHooks formed = hooks();
  formed.form = [](const ServerRequest& head, ServerReply reply) {
    reply.body = head.target + ": " + std::to_string(reply.status);
    return reply;
  };
  ServerOptions options;
  options.max_body = 10;
  server_.emplace(options, &serve, formed);
  const std::string close = "Connection: close\r\n";
  EXPECT_THAT(talk("GET /in HTTP/1.1\r\nHost: x\r\n" + close + "\r\n"), HasSubstr("/in: 200"));
  EXPECT_THAT(talk(put("/late", 1, close) + "x"), HasSubstr("/late: 500"));
  EXPECT_THAT(talk(put("/throw", 1, close) + "x"), HasSubstr("/throw: 500"));
  EXPECT_THAT(talk(put("/a", 3'000'001)), HasSubstr("/a: 413"));
  EXPECT_THAT(talk("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"), HasSubstr("/p: 413"));
  EXPECT_THAT(talk("GET /twice HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"), HasSubstr("/twice: 400"));
}

// Streams `pieces` with a Content-Length of 6.
std::string stream_of(const std::vector<std::string>& pieces, const std::string& method = "GET") {
  const auto serve = [&pieces](ServerRequest) -> awaitable<ServerReply> {
    ServerReply reply;
    reply.headers.set("Content-Length", "6");
    reply.next_piece = [&pieces, i = std::size_t{0}]() mutable -> awaitable<std::optional<std::string>> {
      if (i == pieces.size()) co_return std::nullopt;
      co_return pieces[i++];
    };
    co_return reply;
  };
  TestServer server({}, serve);
  RawClient client(server.url());
  client.send(method +
              " / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  return client.read_all();
}

TEST(HttpServerStream, OfAKnownLengthIsSentPlainAndKeepsTheConnection) {
  const std::string text = stream_of({"one", "two"});
  EXPECT_THAT(text, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("chunked")));
  EXPECT_THAT(text, HasSubstr("\r\n\r\nonetwoHTTP/1.1 200"));
  EXPECT_THAT(text, testing::EndsWith("\r\n\r\nonetwo"));
}

TEST(HttpServerStream, ThatEndsEarlyEndsTheConnection) {
  EXPECT_THAT(stream_of({"one"}), testing::EndsWith("\r\n\r\none"));
}

// 25 MB at 0.6 MB/s were cut off after the time for one write.
TEST(HttpServerStream, ALongAnswerHasTheTimeOfAPieceForEach) {
  const std::string body(8'000'000, 'x');
  const auto serve = [&body](ServerRequest) -> awaitable<ServerReply> {
    ServerReply reply;
    reply.body = body;
    co_return reply;
  };
  ServerOptions options;
  options.write_timeout = milliseconds(1000);
  TestServer server(options, serve);
  RawClient client(server.url());
  client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_some(), HasSubstr("Content-Length: 8000000\r\n"));
  client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::string text;
  for (std::size_t slept = 0;;) {
    const std::string part = client.read_some();
    if (part.empty()) break;
    text += part;
    if (text.size() / 500'000 > slept) {
      slept = text.size() / 500'000;
      std::this_thread::sleep_for(milliseconds(150));
    }
  }
  EXPECT_THAT(text, HasSubstr("Content-Length: 8000000\r\n"));
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, body.size());
}

TEST(HttpServerStream, AnswersHeadWithItsLength) {
  EXPECT_THAT(stream_of({"one", "two"}, "HEAD"), HasSubstr("Content-Length: 6\r\n"));
}

}  // namespace
}  // namespace podium
