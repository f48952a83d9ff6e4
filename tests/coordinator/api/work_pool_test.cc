#include "coordinator/loop/work_pool.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace asio = boost::asio;

asio::awaitable<std::optional<int>> wait_in(WorkPool& pool, std::shared_future<void> go) {
  const auto work = [go] { return go.wait(), 7; };
  co_return co_await pool.run(work);
}

TEST(WorkPool, RefusesWhatWouldWaitBehindTooMuch) {
  asio::io_context io;
  const TempFolder home;
  Store store(home.path(), [&](std::function<void()> work) { work(); });
  WorkPool pool(store, "these tests", 1, 2);
  std::promise<void> gate;
  const std::shared_future<void> go = gate.get_future().share();
  auto runs = asio::co_spawn(io, wait_in(pool, go), asio::use_future);
  auto waits = asio::co_spawn(io, wait_in(pool, go), asio::use_future);
  auto beyond = asio::co_spawn(io, wait_in(pool, go), asio::use_future);
  io.poll();
  EXPECT_THROW(beyond.get(), Busy);
  gate.set_value();
  io.restart();
  io.run();
  EXPECT_EQ(runs.get(), 7);
  EXPECT_EQ(waits.get(), 7);
  auto later = asio::co_spawn(io, wait_in(pool, go), asio::use_future);
  io.restart();
  io.run();
  EXPECT_EQ(later.get(), 7) << "there is room again";
}

}  // namespace
}  // namespace podium
