#include "coordinator/loop/sync_holds.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace podium {
namespace {

TEST(SyncHolds, HoldsOnlyWhoHasSeenTheOrdersOfNow) {
  boost::asio::io_context io;
  ClusterState state;
  NodeDescription node;
  node.id.value = "node-1";
  apply(state, {from_millis(1000), NodeJoined{node}});
  SyncHolds holds(io.get_executor(), state, std::chrono::hours(1));
  bool answered = false;
  const auto ask = [&](std::int64_t orders_seen) {
    answered = false;
    boost::asio::co_spawn(io, holds.wait(node.id, orders_seen), [&](std::exception_ptr) { answered = true; });
    io.restart();
    io.poll();
    return answered;
  };
  const std::int64_t now = state.nodes.at(node.id).orders_version;
  EXPECT_TRUE(ask(now - 1));
  EXPECT_TRUE(ask(now + 1)) << "an older database was restored: the agent has seen orders of a later time";
  EXPECT_FALSE(ask(now));
  holds.release_all();
  io.restart();
  io.poll();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace podium
