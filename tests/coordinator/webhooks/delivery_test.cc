#include "coordinator/webhooks/delivery.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace podium
