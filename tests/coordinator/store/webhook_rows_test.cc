// Notices are rows of the transaction of what they tell.
#include "coordinator/store/webhook_rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class WebhookRowsTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open(std::vector<WebhookFilter> webhooks) {
    StoreOptions options;
    options.webhooks = std::move(webhooks);
    auto store = std::make_unique<Store>(home_.path(), at_once(), options);
    store->begin("the-cluster");
    store->load({});
    return store;
  }

  std::vector<std::int64_t> rows(const std::string& webhook, std::int64_t after = 0, int most = 100) {
    std::vector<std::int64_t> found;
    for (const QueuedNotice& each : WebhookReader(home_.path()).queued(webhook, after, most))
      found.push_back(each.row);
    return found;
  }

  std::vector<std::string> types(const std::string& webhook) {
    WebhookReader reader(home_.path());
    std::vector<std::string> found;
    for (const std::int64_t row : rows(webhook)) found.push_back(reader.text(row)->type);
    return found;
  }

  TempFolder home_;
  const WebhookFilter all_{"all", {std::begin(kEventNotices), std::end(kEventNotices)}};
  const WebhookFilter nodes_{"nodes", {NoticeType::node_lost}};
};

TEST_F(WebhookRowsTest, EachWebhookHasTheNoticesThatItAsksFor) {
  const auto store = open({all_, nodes_});
  commit_now(*store, {queued_job(1)});
  commit_now(*store, {{{at_second(1), NodeJoined{one_slot_node()}}}});
  commit_now(*store,
             {{{at_second(2), NodeStateChanged{{"node-1"}, NodeState::up, NodeState::lost, "silent"}}}});
  EXPECT_EQ(types("all"), (std::vector<std::string>{"job.submitted", "node.lost"}));
  EXPECT_EQ(types("nodes"), std::vector<std::string>{"node.lost"});
  WebhookReader reader(home_.path());
  const auto of_all = reader.text(rows("all")[1]), of_nodes = reader.text(rows("nodes")[0]);
  EXPECT_EQ(of_all->body, of_nodes->body) << "under one id";
  const auto body = nlohmann::json::parse(of_all->body);
  EXPECT_EQ(body["id"], of_all->id);
  EXPECT_EQ(body["cluster"], "the-cluster");
  EXPECT_EQ(body["node"]["name"], "node-1");
  const QueuedNotice first = reader.queued("all", 0, 1).front();
  EXPECT_EQ(first.subject, "job 1");
  EXPECT_LT(SystemClock().now() - first.at, std::chrono::minutes(5)) << "however old the event is";
}

TEST_F(WebhookRowsTest, RowsAreReadOnAndRemoved) {
  const auto store = open({all_});
  for (int job = 1; job <= 5; ++job) commit_now(*store, {queued_job(job)});
  const auto five = rows("all");
  ASSERT_EQ(five.size(), 5u);
  EXPECT_EQ(rows("all", five[1], 2), (std::vector{five[2], five[3]}));
  Commit done;
  done.delivered = {five[0], five[2]};
  commit_now(*store, std::move(done));
  EXPECT_EQ(rows("all"), (std::vector{five[1], five[3], five[4]}));
  WebhookReader reader(home_.path());
  EXPECT_EQ(reader.first("all"), five[1]);
  EXPECT_EQ(reader.first("nodes"), std::nullopt);
  EXPECT_FALSE(reader.text(five[0]).has_value());
  EXPECT_EQ(reader.lost("all"), 0);
}

TEST_F(WebhookRowsTest, AFullQueueLosesItsOldestAndCountsThem) {
  auto store = open({{"all", all_.types, 3}, nodes_});
  Events many;
  for (int job = 1; job <= 5; ++job)
    for (const Event& event : queued_job(job)) many.push_back(event);
  commit_now(*store, {many});
  WebhookReader reader(home_.path());
  EXPECT_EQ(reader.lost("all"), 2);
  const auto three = rows("all");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(reader.text(three[0])->body)["job"]["id"], 3);
  commit_now(*store, {queued_job(6)});
  EXPECT_EQ(reader.lost("all"), 3);
  EXPECT_EQ(reader.lost("nodes"), 0);
  store.reset();
  store = open({{"all", all_.types, 3}});
  EXPECT_EQ(WebhookReader(home_.path()).lost("all"), 3) << "over a restart, too";
  EXPECT_EQ(rows("all").size(), 3u);
}

TEST_F(WebhookRowsTest, WhatIsDeliveredIsNotLostAlthoughAFullQueueDroppedIt) {
  const auto store = open({{"all", all_.types, 2}});
  for (int job = 1; job <= 2; ++job) commit_now(*store, {queued_job(job)});
  const auto two = rows("all");
  for (int job = 3; job <= 5; ++job) commit_now(*store, {queued_job(job)});
  WebhookReader reader(home_.path());
  ASSERT_EQ(reader.lost("all"), 3);
  Commit done;
  done.delivered = {two[1], rows("all")[0]};  // it was under way when it was dropped; one still waited
  commit_now(*store, std::move(done));
  EXPECT_EQ(reader.lost("all"), 2);
  EXPECT_EQ(rows("all").size(), 1u);
}

TEST_F(WebhookRowsTest, RowsOfAWebhookThatIsGoneAreDroppedAndNumbersAreNotUsedAgain) {
  auto store = open({all_});
  commit_now(*store, {queued_job(1)});
  const auto before = rows("all");
  ASSERT_EQ(before.size(), 1u);
  store.reset();
  store = open({nodes_});
  EXPECT_TRUE(rows("all").empty());
  store.reset();
  store = open({all_});
  commit_now(*store, {queued_job(2)});
  ASSERT_EQ(rows("all").size(), 1u);
  EXPECT_GT(rows("all")[0], before[0]);
}

TEST_F(WebhookRowsTest, WithoutWebhooksThereAreNoRows) {
  const auto store = open({});
  commit_now(*store, {queued_job(1)});
  EXPECT_TRUE(rows("all").empty());
}

}  // namespace
}  // namespace podium
