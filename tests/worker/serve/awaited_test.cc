// A coroutine on an executor's thread, and other threads that make what it waits for.
#include "worker/serve/awaited.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "worker/serve/answering.h"

namespace podium {
namespace {

using std::chrono::hours;

class AwaitedTest : public testing::Test {
 protected:
  static ServeTime in(std::chrono::milliseconds time) { return ServeTime::clock::now() + time; }
  std::shared_ptr<Awaited<int>> awaited_until(ServeTime deadline) {
    return std::make_shared<Awaited<int>>(io_.get_executor(), deadline);
  }
  std::optional<int> waited(const std::shared_ptr<Awaited<int>>& awaited) {
    std::future<std::optional<int>> value =
        boost::asio::co_spawn(io_, awaited->wait(), boost::asio::use_future);
    io_.restart();
    io_.run();
    return value.get();
  }

  boost::asio::io_context io_;
};

TEST_F(AwaitedTest, GivesWhatAnotherThreadMakes) {
  const auto awaited = awaited_until(in(hours(1)));
  EXPECT_TRUE(awaited->is_wanted());
  std::thread maker([&] { awaited->give(7); });
  EXPECT_EQ(waited(awaited), 7);
  EXPECT_FALSE(awaited->is_wanted());
  maker.join();
}

TEST_F(AwaitedTest, ThrowsWhatFailed) {
  const auto awaited = awaited_until(in(hours(1)));
  awaited->fail(std::make_exception_ptr(std::runtime_error("made up")));
  EXPECT_THROW(waited(awaited), std::runtime_error);
}

TEST_F(AwaitedTest, EndsWithItsTime) {
  EXPECT_EQ(waited(awaited_until(in(hours(-1)))), std::nullopt);
  EXPECT_EQ(waited(awaited_until(in(std::chrono::milliseconds(10)))), std::nullopt);
}

TEST_F(AwaitedTest, ItsTimeMayBecomeShorterOrLonger) {
  const auto shorter = awaited_until(in(hours(1)));
  std::thread setter([&] { shorter->set_deadline(in(std::chrono::milliseconds(10))); });
  EXPECT_EQ(waited(shorter), std::nullopt);
  setter.join();
  const auto longer = awaited_until(in(hours(-1)));
  longer->set_deadline(in(hours(1)));
  std::thread maker([&] { longer->give(8); });
  EXPECT_EQ(waited(longer), 8);
  maker.join();
}

TEST_F(AwaitedTest, EndsWhereNobodyWantsItAnyMore) {
  const auto awaited = awaited_until(in(hours(1)));
  boost::asio::post(io_, [&] { awaited->give_up(); });
  EXPECT_EQ(waited(awaited), std::nullopt);
}

TEST_F(AwaitedTest, WorkIsNotBegunOnceNobodyWaits) {
  boost::asio::thread_pool pool(1);
  std::promise<void> go_on;
  boost::asio::post(pool, [&] { go_on.get_future().wait(); });
  int begun = 0;
  const std::function<int(Awaited<int>&)> work = [&](Awaited<int>&) { return ++begun; };
  EXPECT_EQ(waited(begin_on<int>(pool, io_.get_executor(), in(hours(-1)), work)), std::nullopt);
  const auto wanted = begin_on<int>(pool, io_.get_executor(), in(hours(1)), work);
  go_on.set_value();
  EXPECT_EQ(waited(wanted), 1);
  const std::function<int(Awaited<int>&)> failing = [](Awaited<int>&) -> int {
    throw std::runtime_error("made up");
  };
  EXPECT_THROW(waited(begin_on<int>(pool, io_.get_executor(), in(hours(1)), failing)), std::runtime_error);
  pool.join();
}

}  // namespace
}  // namespace podium
