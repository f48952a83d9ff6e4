#include "coordinator/webhooks/webhook_config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

class WebhookConfigTest : public testing::Test {
 protected:
  Result<std::vector<WebhookConfig>> load(const std::string& list) {
    write_file_atomic(file_, "version: 1\nwebhooks:\n" + list);
    return load_webhooks(file_);
  }
  // Without the folder.
  std::string wrong(const std::string& list) {
    const auto loaded = load(list);
    std::string text = describe(loaded.errors());
    const std::string folder = folder_.path().string() + "/";
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }

  TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "webhooks.yaml";
};

TEST_F(WebhookConfigTest, IsReadWithItsDefaults) {
  write_file_atomic(folder_.path() / "secret", "abcdefghijklmnop\n");
  const auto hooks = load(
      "  - {name: ops, url: 'https://example.org/a?b=c', secret: 0123456789abcdef}\n"
      "  - name: night\n    url: http://[::1]:8080\n    secret_file: " +
      (folder_.path() / "secret").string() +
      "\n    events: [job.ended, node.lost]\n    timeout: 3s\n    queue: 5\n");
  ASSERT_TRUE(hooks.ok()) << describe(hooks.errors());
  const WebhookConfig& ops = (*hooks)[0];
  EXPECT_EQ(std::tuple(ops.name, ops.url.host, ops.url.port, ops.url.target, ops.url.tls, ops.secret),
            std::tuple("ops", "example.org", 443, "/a?b=c", true, "0123456789abcdef"));
  EXPECT_EQ(ops.types, std::set<NoticeType>(std::begin(kEventNotices), std::end(kEventNotices)));
  EXPECT_EQ(std::tuple(ops.timeout, ops.queue), std::tuple(Duration(10'000), 10'000));
  const WebhookConfig& night = (*hooks)[1];
  EXPECT_EQ(night.secret, "abcdefghijklmnop");
  EXPECT_EQ(night.types, (std::set{NoticeType::job_ended, NoticeType::node_lost}));
  EXPECT_EQ(std::tuple(night.timeout, night.queue), std::tuple(Duration(3'000), 5));
  EXPECT_EQ(night.filter().webhook, "night");
  EXPECT_EQ(night.filter().queue, 5);
}

TEST_F(WebhookConfigTest, EveryMistakeIsToldWithItsLine) {
  const std::string told = wrong(
      "  - {name: Ops, url: 'ftp://x', secret: short, events: [job.exploded]}\n"
      "  - {name: a, address: 'https://x'}\n");
  for (const char* part : {"webhooks.yaml:3:", "webhooks.yaml:4:", "name must be words of small letters",
                           "url", "secret", "job.exploded"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " in\n" << told;
}

TEST_F(WebhookConfigTest, WhatTheSchemaCannotSayIsToldToo) {
  const std::string told = wrong(
      "  - {name: a, url: 'https://user:pass@x/', secret: 0123456789abcdef, timeout: 2h}\n"
      "  - {name: a, url: 'https://x'}\n"
      "  - {name: b, url: 'https://x', secret: 0123456789abcdef, secret_file: /nowhere, ca: /nowhere.pem}\n"
      "  - {name: c, url: 'https://x', secret_file: /nowhere/at/all}\n");
  for (const char* part :
       {"webhooks.yaml:3:20: url must name a host", "timeout must be a duration up to 1m",
        "webhooks.yaml:4:5: a webhook has either a secret or a secret_file", "two webhooks are called a",
        "webhooks.yaml:5:5: a webhook has either", "there is no file /nowhere.pem", "/nowhere/at/all"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " in\n" << told;
  EXPECT_EQ(told.find("pass@"), std::string::npos) << "no secret is repeated";
}

TEST_F(WebhookConfigTest, WhatIsWrongWithASecretIsToldWithoutIt) {
  const auto expect = [&](const std::string& list, const std::string& part) {
    const std::string told = wrong(list);
    EXPECT_NE(told.find(part), std::string::npos) << told;
    for (const char* secret : {"hooks.example.com", "T0/B1", "4711", "p4ss"})
      EXPECT_EQ(told.find(secret), std::string::npos) << told;
  };
  expect("  - {name: a, url: 'hooks.example.com/T0/B1', secret: 0123456789abcdef}\n",
         "url must be a URL of https or http");
  expect("  - {name: a, url: [https://hooks.example.com/T0/B1], secret: 0123456789abcdef}\n",
         "url must be text");
  expect("  - {name: a, url: 'https://x', secret: 471147114711471}\n",
         "secret must be text; put it in quotes");
  expect("  - {name: a, url: 'https://x', secret: 4711471147114711471147114711}\n", "put it in quotes");
  expect("  - {name: a, url: 'https://x', secret: p4ssw0rdp4ssw0r}\n",
         "secret must have at least 16 characters, not 15");
  expect("  - https://hooks.example.com/T0/B1\n", "must be a mapping of keys to values");
  expect("  https://hooks.example.com/T0/B1\n", "webhooks must be a list");
  write_file_atomic(file_, "https://hooks.example.com/T0/B1\n");
  const std::string told = describe(load_webhooks(file_).errors());
  EXPECT_NE(told.find("must be a mapping"), std::string::npos) << told;
  EXPECT_EQ(told.find("hooks.example.com"), std::string::npos) << told;
}

TEST_F(WebhookConfigTest, ASecretOfAFileIsLongEnough) {
  write_file_atomic(folder_.path() / "secret", "short\n");
  EXPECT_NE(
      wrong("  - {name: a, url: 'https://x', secret_file: " + (folder_.path() / "secret").string() + "}\n")
          .find("must hold at least 16 characters"),
      std::string::npos);
  write_file_atomic(folder_.path() / "secret", "0123456789abcdef");
  EXPECT_TRUE(
      load("  - {name: a, url: 'https://x', secret_file: " + (folder_.path() / "secret").string() + "}\n")
          .ok());
}

// The coordinator never came to its end, or never began.
TEST_F(WebhookConfigTest, ASecretIsInNoFileWithoutAnEnd) {
  const std::filesystem::path pipe = folder_.path() / "pipe", large = folder_.path() / "large";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write_file_atomic(large, std::string((64 << 10) + 1, 'x'));
  for (const std::string& file :
       {std::string("/dev/zero"), pipe.string(), folder_.path().string(), large.string()})
    EXPECT_NE(wrong("  - {name: a, url: 'https://x', secret_file: " + file + "}\n")
                  .find("must be a regular file of 64 KiB at most"),
              std::string::npos)
        << file;
}

TEST_F(WebhookConfigTest, ATimeoutIsUpToAMinute) {
  const auto with = [](const std::string& timeout) {
    return "  - {name: a, url: 'https://x', secret: 0123456789abcdef, timeout: " + timeout + "}\n";
  };
  EXPECT_TRUE(load(with("1m")).ok());
  EXPECT_FALSE(load(with("1m1ms")).ok());
  EXPECT_FALSE(load(with("0s")).ok());
  EXPECT_FALSE(load(with("soon")).ok());
}

}  // namespace
}  // namespace podium
