#include "coordinator/webhooks/delivery.h"

#include <gtest/gtest.h>

#include "tests/common/net/server_fixture.h"

namespace podium {
namespace {

TEST(Delivery, IsSignedOverItsTimeAndBody) {
  WebhookConfig config;
  config.url = {true, "example.org", 443, "/hook?to=ops"};
  config.secret = "0123456789abcdef";
  const HttpRequest request = signed_request(config, {"the-id", "job.ended", R"({"a":1})"}, 1'700'000'000);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/hook?to=ops");
  EXPECT_EQ(request.body, R"({"a":1})");
  EXPECT_EQ(request.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(request.headers.get("X-Podium-Event"), "job.ended");
  EXPECT_EQ(request.headers.get("X-Podium-Delivery"), "the-id");
  EXPECT_EQ(request.headers.get("X-Podium-Timestamp"), "1700000000");
  // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
  EXPECT_EQ(request.headers.get("X-Podium-Signature"),
            "sha256=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23");
}

TEST(Delivery, OnlyA2xxIsOne) {
  for (const int status : {200, 201, 204, 299}) EXPECT_TRUE(judge({status, {}, ""}).ok) << status;
  for (const int status : {199, 300, 301, 307, 400, 404, 410, 429, 500, 503}) {
    const Delivery delivery = judge({status, {}, ""});
    EXPECT_FALSE(delivery.ok) << status;
    EXPECT_EQ(delivery.status, status);
    EXPECT_NE(delivery.error.find("answered " + std::to_string(status)), std::string::npos);
    EXPECT_EQ(delivery.error.find("redirects") != std::string::npos, status >= 300 && status < 400) << status;
  }
}

TEST(Delivery, ANoticeIsRefusedWhereTheReceiverIsNotDown) {
  for (const int status : {301, 400, 401, 404, 413, 422, 431})
    EXPECT_EQ(judge({status, {}, ""}).failure, DeliveryFailure::refused) << status;
  for (const int status : {408, 429, 500, 502, 503})
    EXPECT_EQ(judge({status, {}, ""}).failure, DeliveryFailure::down) << status;
  EXPECT_EQ(Delivery{}.failure, DeliveryFailure::down) << "no answer";
}

Delivery deliver_to(const Url& url) {
  WebhookConfig config;
  config.url = url;
  config.timeout = std::chrono::minutes(1);
  boost::asio::io_context io;
  std::shared_ptr<HttpClient> client;
  EXPECT_EQ(make_client(io.get_executor(), config, client), "");
  Delivery delivery;
  boost::asio::co_spawn(io, deliver(*client, config, {"the-id", "test", "{}"}),
                        [&](std::exception_ptr, Delivery got) { delivery = std::move(got); });
  io.run();
  return delivery;
}

TEST(Delivery, IsJudgedByTheStatusHoweverLongTheAnswer) {
  int status = 0;
  bool ends = true;
  TestServer server({}, [&](ServerRequest) -> boost::asio::awaitable<ServerReply> {
    ServerReply reply;
    reply.status = status;
    if (ends)
      reply.body = std::string(1 << 20, 'x');
    else
      reply.next_piece = []() -> boost::asio::awaitable<std::optional<std::string>> {
        co_return std::string(1000, 'x');
      };
    co_return reply;
  });
  for (const bool each : {true, false})
    for (const int answered : {200, 201, 202, 400, 503}) {
      status = answered, ends = each;
      const Delivery delivery = deliver_to(server.url());
      EXPECT_EQ(delivery.status, answered) << delivery.error;
      EXPECT_EQ(delivery.ok, answered < 300) << answered;
      EXPECT_EQ(delivery.failure, answered == 400 ? DeliveryFailure::refused : DeliveryFailure::down);
    }
}

}  // namespace
}  // namespace podium
