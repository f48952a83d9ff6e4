#include "coordinator/api/key_lock.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <vector>

namespace podium {
namespace {

namespace asio = boost::asio;

// Notes when it has the key and when it lets go.
asio::awaitable<void> hold(KeyLock& lock, std::string key, std::string name, std::vector<std::string>& log) {
  const KeyLock::Guard held = co_await lock.acquire(key);
  log.push_back(name + " has " + key);
  for (int turn = 0; turn < 5; ++turn)
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  log.push_back(name + " leaves " + key);
}

TEST(KeyLock, HoldersOfOneKeyTakeTurnsAndOthersDoNotWait) {
  asio::io_context io;
  KeyLock lock(io.get_executor());
  std::vector<std::string> log;
  for (const char* name : {"a", "b", "c"}) asio::co_spawn(io, hold(lock, "k", name, log), asio::detached);
  asio::co_spawn(io, hold(lock, "other", "d", log), asio::detached);
  io.run();
  ASSERT_EQ(log.size(), 8u);
  EXPECT_EQ(log[0], "a has k");
  EXPECT_EQ(log[1], "d has other");
  std::erase_if(log, [](const std::string& line) { return line.ends_with("other"); });
  for (std::size_t i = 0; i < log.size(); i += 2) {
    EXPECT_TRUE(log[i].ends_with("has k")) << log[i];
    EXPECT_EQ(log[i + 1], log[i].substr(0, 1) + " leaves k");
  }
}

}  // namespace
}  // namespace podium
