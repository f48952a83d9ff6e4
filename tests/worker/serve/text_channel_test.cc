// Pieces of a text from another thread, and the end of its time.
#include "worker/serve/text_channel.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <thread>

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Kind = GenerationEnded::Kind;

class TextChannelTest : public testing::Test {
 protected:
  std::shared_ptr<TextChannel> channel_for(std::chrono::milliseconds time) {
    return std::make_shared<TextChannel>(io_.get_executor(), ServeTime::clock::now() + time);
  }
  TextChannel::Piece next_of(const std::shared_ptr<TextChannel>& channel) {
    auto piece = boost::asio::co_spawn(io_, channel->next(), boost::asio::use_future);
    io_.restart();
    io_.run();
    return piece.get();
  }

  boost::asio::io_context io_;
};

TEST_F(TextChannelTest, WhatHasComeIsOnePiece) {
  const auto channel = channel_for(hours(1));
  std::thread writer([&] {
    channel->add("one ");
    channel->add("two");
    channel->end({Kind::done, {}});
  });
  writer.join();
  std::string text;
  TextChannel::Piece piece;
  while (!piece.ended) {
    piece = next_of(channel);
    text += piece.text;
  }
  EXPECT_EQ(text, "one two");
  EXPECT_EQ(piece.ended->kind, Kind::done);
  EXPECT_FALSE(piece.is_late);
}

TEST_F(TextChannelTest, AnEngineThatTellsNothingDoesNotKeepItsClient) {
  const auto channel = channel_for(milliseconds(20));
  channel->add("in time");
  EXPECT_EQ(next_of(channel).text, "in time");
  const TextChannel::Piece piece = next_of(channel);
  EXPECT_TRUE(piece.is_late);
  EXPECT_EQ(piece.text, "");
  ASSERT_TRUE(piece.ended);
  EXPECT_EQ(piece.ended->kind, Kind::expired);
}

TEST_F(TextChannelTest, WhatTheEngineHasToldGoesBeforeTheDeadline) {
  const auto channel = channel_for(hours(-1));
  channel->end({Kind::failed, {}});
  io_.run();
  const TextChannel::Piece piece = next_of(channel);
  EXPECT_FALSE(piece.is_late);
  EXPECT_EQ(piece.ended->kind, Kind::failed);
}

TEST_F(TextChannelTest, AClientThatLeavesEndsTheWait) {
  const auto channel = channel_for(hours(1));
  channel->leave();
  const TextChannel::Piece piece = next_of(channel);
  EXPECT_TRUE(piece.has_left);
  EXPECT_FALSE(piece.ended);
}

}  // namespace
}  // namespace podium
