// The feed outlives errors of the store.
#include "coordinator/api/live_feed.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

TEST(LiveFeed, GoesOnAfterAnErrorOfTheDatabase) {
  TempFolder home;
  boost::asio::io_context io;
  const auto working = boost::asio::make_work_guard(io);
  const SystemClock clock;
  const auto post = [&](std::function<void()> work) { boost::asio::post(io, std::move(work)); };
  Store store(home.path(), post);
  {
    std::atomic<bool> done = false;
    Commit turn{queued_job(1), {}, {}, {}};
    store.commit(std::move(turn), [&] { done = true; });
    while (!done) io.run_one();
  }
  CommandLoop loop(io.get_executor(), store, clock, store.load({}));
  WorkPool pool(store, "these tests", 1, 10);
  LiveStream live(io.get_executor(), clock.now());
  LiveFeed feed(io.get_executor(), loop, pool, live);
  feed.start();
  const auto pieces = live.subscribe({}, {});
  std::string told;
  const auto read = [&]() -> boost::asio::awaitable<void> {
    for (std::optional<std::string> piece = co_await pieces(); piece; piece = co_await pieces())
      told += *piece;
  };
  boost::asio::co_spawn(io, read(), [](std::exception_ptr) {});
  io.run_for(std::chrono::milliseconds(50));

  Database database(home.path() / "podium.db", Access::write, 100);
  database.run("ALTER TABLE series RENAME TO elsewhere");
  feed.follow(queued_job(1));
  io.run_for(std::chrono::milliseconds(300));
  EXPECT_EQ(told.find("event: job"), std::string::npos);
  database.run("ALTER TABLE elsewhere RENAME TO series");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (told.find("event: job") == std::string::npos && std::chrono::steady_clock::now() < end)
    io.run_for(std::chrono::milliseconds(50));
  EXPECT_NE(told.find("event: job"), std::string::npos);
  feed.stop();
  live.close();
  io.run_for(std::chrono::milliseconds(300));
}

}  // namespace
}  // namespace podium
