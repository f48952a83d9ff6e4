#include "common/net/access.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

HttpRequest with_field(const std::string& name, const std::string& value) {
  HttpRequest request;
  request.headers.set(name, value);
  return request;
}

TEST(Access, TakesABearersToken) {
  const auto token_of = [](const std::string& field) {
    return bearer_token(with_field("Authorization", field)).has_value()
               ? std::string(*bearer_token(with_field("Authorization", field)))
               : "none";
  };
  EXPECT_EQ(token_of("Bearer abc"), "abc");
  EXPECT_EQ(token_of("bearer a b"), "a b");
  EXPECT_EQ(token_of("Bearer"), "");
  EXPECT_EQ(token_of("Basic abc"), "none");
  EXPECT_EQ(token_of("Bearers abc"), "none");
  EXPECT_EQ(bearer_token({}), std::nullopt);
}

TEST(Access, TakesABasicPassword) {
  const auto password_of = [](const std::string& field) {
    return basic_password(with_field("Authorization", field)).value_or("none");
  };
  EXPECT_EQ(password_of("Basic dXNlcjpwYXNz"), "pass");       // user:pass
  EXPECT_EQ(password_of("basic dXNlcjpwYXNzdw=="), "passw");  // user:passw
  EXPECT_EQ(password_of("Basic dXNlcjpwYXM="), "pas");        // user:pas
  EXPECT_EQ(password_of("Basic OmE6Yg=="), "a:b");            // :a:b
  EXPECT_EQ(password_of("Basic dXNlcjo="), "");               // user:
  for (const char* none : {"Basic dXNlcg==" /* user */, "Basic", "Basic ", "Basic dXNlcjpwYXNzdw",
                           "Basic !!!!", "Basic =", "Basic ====", "Bearer dXNlcjpwYXNz"})
    EXPECT_EQ(password_of(none), "none") << none;
  EXPECT_EQ(basic_password({}), std::nullopt);
}

TEST(Access, RefusesNamesThatMayBeOfOtherSites) {
  const auto refused = [](const std::string& host) {
    ServerRequest request;
    if (!host.empty()) request.headers.set("Host", host);
    const auto refusal = refuse_rebound_host(request);
    return refusal ? refusal->status : 0;
  };
  for (const char* own : {"", "localhost", "LocalHost:7070", "127.0.0.1:7070", "[::1]:7070", "10.0.0.1"})
    EXPECT_EQ(refused(own), 0) << own;
  for (const char* other : {"evil.example", "evil.example:7070", "localhost.evil.example", "[evil]"})
    EXPECT_EQ(refused(other), 403) << other;
}

TEST(Access, KnowsLoopback) {
  for (const char* host : {"127.0.0.1", "127.8.9.1", "::1"}) EXPECT_TRUE(is_loopback({host, 1})) << host;
  for (const char* host : {"0.0.0.0", "10.0.0.1", "::", "head"}) EXPECT_FALSE(is_loopback({host, 1})) << host;
}

}  // namespace
}  // namespace podium
