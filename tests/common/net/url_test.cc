#include "common/net/url.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(ParseUrl, ReadsSchemeHostPortAndTarget) {
  const auto url = parse_url("https://node-3:8443/api/v1/jobs?state=queued");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->origin(), "https://node-3:8443");
  EXPECT_EQ(url->target, "/api/v1/jobs?state=queued");
}

TEST(ParseUrl, FillsInThePortAndKeepsIpv6InBrackets) {
  EXPECT_EQ(parse_url("http://localhost")->port, 80);
  EXPECT_EQ(parse_url("https://localhost")->port, 443);
  const auto url = parse_url("http://[::1]:7070");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->origin(), "http://[::1]:7070");
  EXPECT_EQ(url->target, "/");
}

TEST(ParseUrl, RefusesWhatIsNoHttpAddress) {
  for (const char* text : {"", "127.0.0.1:7070", "ftp://host/", "http://", "http://host:0",
                           "http://host:99999", "http://user:password@host", "http://host name/"})
    EXPECT_FALSE(parse_url(text).ok()) << text;
}

TEST(ParseTarget, DecodesSegmentsAndQueryApart) {
  const auto target = parse_target("/api/v1/nodes/a%2Fb/x?key=train%2Floss&key=a+b&empty");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "v1", "nodes", "a/b", "x"}));
  EXPECT_EQ(target->query, (std::vector<std::pair<std::string, std::string>>{
                               {"key", "train/loss"}, {"key", "a b"}, {"empty", ""}}));
}

TEST(ParseTarget, RefusesWhatIsNoPath) {
  for (const char* text : {"", "*", "no-slash", "http://other/", "/bad%zz", "/sp ace"})
    EXPECT_FALSE(parse_target(text).ok()) << text;
}

TEST(EncodeComponent, SurvivesParseTarget) {
  const std::string name = "a b/c?d=e&f%g+ü";
  EXPECT_EQ(parse_target("/" + encode_component(name))->segments.at(0), name);
  EXPECT_EQ(parse_target("/x?k=" + encode_component(name))->query.at(0).second, name);
}

TEST(ParseHostPort, ReadsNamesAndBothAddressFamilies) {
  EXPECT_EQ(parse_host_port("127.0.0.1:7070")->text(), "127.0.0.1:7070");
  EXPECT_EQ(parse_host_port("[::]:0")->host, "::");
  EXPECT_EQ(parse_host_port("[::]:0")->text(), "[::]:0");
  for (const char* text : {"", "7070", ":7070", "host:", "host:x", "host:70000", "[]:1"})
    EXPECT_FALSE(parse_host_port(text).ok()) << text;
}

}  // namespace
}  // namespace podium
