#include "coordinator/loop/long_polls.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace podium {
namespace {

TEST(LongPolls, WaitsOnlyWhereTheOrdersOfNowWereSeen) {
  boost::asio::io_context io;
  ClusterState state;
  NodeDescription node;
  node.id.value = "node-1";
  apply(state, {from_millis(1000), NodeJoined{node}});
  LongPolls polls(io.get_executor(), state, std::chrono::hours(1));
  bool answered = false;
  const auto ask = [&](std::int64_t orders_seen) {
    answered = false;
    boost::asio::co_spawn(io, polls.wait(node.id, orders_seen), [&](std::exception_ptr) { answered = true; });
    io.restart();
    io.poll();
    return answered;
  };
  const std::int64_t now = state.nodes.at(node.id).orders_version;
  EXPECT_TRUE(ask(now - 1));
  EXPECT_TRUE(ask(now + 1)) << "an older database was restored: the agent has seen orders of a later time";
  EXPECT_FALSE(ask(now));
  polls.answer_all();
  io.restart();
  io.poll();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace podium
