#include "coordinator/api/live_stream.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <vector>

#include "common/net/server_events.h"

namespace podium {
namespace {

constexpr Time kStart{Duration{1000}};
using Names = std::vector<std::string>;

class LiveStreamTest : public testing::Test {
 protected:
  LiveStreamTest()
      : live_(io_.get_executor(), kStart, {4, 10'000, std::chrono::seconds(60), std::chrono::seconds(0)}) {}

  // What the next piece holds, as "id name".
  Names next(const LiveStream::Pieces& pieces) {
    std::optional<std::string> piece;
    boost::asio::co_spawn(io_, pieces(),
                          [&](std::exception_ptr, std::optional<std::string> got) { piece = got; });
    io_.restart();
    io_.poll();
    if (!piece) return {"nothing"};
    ServerEventParser parser;
    parser.feed(*piece);
    Names names;
    while (const auto event = parser.next()) names.push_back(event->id + " " + event->name);
    return names;
  }

  LiveStream::Pieces subscribe(std::optional<std::int64_t> last_id = {}, std::optional<JobId> job = {}) {
    auto pieces = live_.subscribe(last_id, job);
    EXPECT_EQ(next(pieces), Names{});  // the greeting
    return pieces;
  }

  boost::asio::io_context io_;
  LiveStream live_;
};

TEST_F(LiveStreamTest, GivesWhatComesAfterTheSubscription) {
  live_.publish("job", JobId{1}, "{}");
  const auto pieces = subscribe();
  live_.publish("job", JobId{2}, "{}");
  live_.publish("node", std::nullopt, "{}");
  EXPECT_EQ(next(pieces), (Names{"1001 job", "1002 node"}));
}

TEST_F(LiveStreamTest, WakesAWaitingSubscriber) {
  const auto pieces = subscribe();
  std::string got;
  boost::asio::co_spawn(io_, pieces(), [&](std::exception_ptr, std::optional<std::string> piece) {
    got = piece.value_or("end");
  });
  io_.poll();
  EXPECT_EQ(got, "");
  live_.publish("job", JobId{1}, "{}");
  io_.restart();
  io_.poll();
  EXPECT_EQ(got, "id: 1000\nevent: job\ndata: {}\n\n");
}

TEST_F(LiveStreamTest, ResumesAfterTheLastId) {
  for (int i = 0; i < 3; ++i) live_.publish("job", JobId{1}, "{}");
  EXPECT_EQ(next(subscribe(1000)), (Names{"1001 job", "1002 job"}));
}

TEST_F(LiveStreamTest, ResetsWhomTheRingHasOutrun) {
  const auto slow = subscribe();
  for (int i = 0; i < 5; ++i) live_.publish("job", JobId{1}, "{}");
  EXPECT_EQ(next(slow), (Names{"1004 reset"}));
  live_.publish("job", JobId{1}, "{}");
  EXPECT_EQ(next(slow), (Names{"1005 job"}));
  EXPECT_EQ(next(subscribe(999)), (Names{"1005 reset"}));
  EXPECT_EQ(next(subscribe(5000)), (Names{"1005 reset"}));
  EXPECT_EQ(next(subscribe(1001)), (Names{"1002 job", "1003 job", "1004 job", "1005 job"}));
}

TEST_F(LiveStreamTest, BoundsItsBytes) {
  const auto slow = subscribe();
  for (int i = 0; i < 3; ++i) live_.publish("job", JobId{1}, std::string(6000, 'x'));
  EXPECT_EQ(next(slow), (Names{"1002 reset"}));
}

TEST_F(LiveStreamTest, NarrowsToOneJob) {
  const auto pieces = subscribe({}, JobId{2});
  live_.publish("job", JobId{1}, "{}");
  live_.publish("node", std::nullopt, "{}");
  live_.publish("metrics", JobId{2}, "{}");
  EXPECT_EQ(next(pieces), (Names{"1002 metrics"}));
}

TEST_F(LiveStreamTest, WhatWasSkippedIsAReset) {
  live_.publish("job", JobId{1}, "{}");
  live_.skip();
  EXPECT_EQ(next(subscribe(1000)), (Names{"1001 reset"}));
  EXPECT_EQ(live_.last_id(), 1001);
}

// Of an answer and a message the client could not tell which was newer.
TEST_F(LiveStreamTest, AReadingHasAnIdBetweenTheMessages) {
  live_.publish("job", JobId{1}, "{}");
  const std::int64_t first = live_.take_id(), second = live_.take_id();
  EXPECT_GT(first, 1000);
  EXPECT_GT(second, first);
  const auto waiting = subscribe();
  live_.publish("job", JobId{1}, "{}");
  EXPECT_EQ(live_.last_id(), second + 1);
  const Names news{std::to_string(second + 1) + " job"};
  EXPECT_EQ(next(waiting), news);
  EXPECT_EQ(next(subscribe(first)), news) << "whoever resumes after a reading misses nothing";
  EXPECT_EQ(next(subscribe(second)), news);
  for (int i = 0; i < 4; ++i) live_.publish("job", JobId{1}, "{}");
  EXPECT_EQ(next(subscribe(first)), Names{std::to_string(second + 5) + " reset"});
}

TEST_F(LiveStreamTest, ReadingsDoNotMoveThePositionThatTellsOfNews) {
  live_.publish("job", JobId{1}, "{}");
  const std::int64_t told = live_.told_id();
  live_.take_id();
  live_.take_id();
  EXPECT_EQ(live_.told_id(), told) << "a client that polls would fetch again for what it has fetched itself";
  const auto waiting = subscribe(told);
  live_.publish("job", JobId{2}, "{}");
  EXPECT_EQ(next(waiting), Names{std::to_string(live_.told_id()) + " job"});
  live_.skip();
  EXPECT_GT(live_.told_id(), told);
  EXPECT_EQ(next(subscribe(live_.told_id())), Names{"nothing"});
}

TEST_F(LiveStreamTest, IsWatchedWhileSomebodySubscribes) {
  EXPECT_FALSE(live_.watched());
  {
    const auto pieces = subscribe();
    EXPECT_TRUE(live_.watched());
  }
  EXPECT_FALSE(live_.watched());
}

TEST_F(LiveStreamTest, EndsWhenClosed) {
  const auto pieces = subscribe();
  live_.close();
  EXPECT_EQ(next(pieces), Names{"nothing"});
}

}  // namespace
}  // namespace podium
