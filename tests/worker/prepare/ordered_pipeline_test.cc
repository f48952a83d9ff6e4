#include "worker/prepare/ordered_pipeline.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

// Squares of 0 to `count` - 1, those that are taken before `fails_at` is worked on.
std::vector<int> squares(int threads, int count, int fails_at, int stops_at) {
  OrderedPipeline<int, int> pipeline(threads, 10);
  std::vector<int> taken;
  int next = 0;
  pipeline.run([&] { return next < count ? std::optional(next++) : std::nullopt; },
               [](int item) { return static_cast<std::size_t>(item % 20); },  // some heavier than all may be
               [&] {
                 return [&](int item) {
                   if (item == fails_at) throw std::runtime_error("at " + std::to_string(item));
                   return item * item;
                 };
               },
               [&](int square) {
                 taken.push_back(square);
                 return std::ssize(taken) != stops_at;
               });
  return taken;
}

TEST(OrderedPipeline, ResultsComeInOrder) {
  for (const int threads : {1, 2, 7}) {
    const std::vector<int> all = squares(threads, 2000, -1, -1);
    ASSERT_EQ(all.size(), 2000u);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i * i);
    EXPECT_THAT(squares(threads, 0, -1, -1), testing::IsEmpty());
    EXPECT_THAT(squares(threads, 100, -1, 3), ElementsAre(0, 1, 4)) << "taking ends early";
  }
}

TEST(OrderedPipeline, AnExceptionComesInItsPlace) {
  for (const int threads : {1, 3}) {
    EXPECT_THAT([&] { squares(threads, 2000, 700, -1); }, ThrowsMessage<std::runtime_error>("at 700"));
    std::vector<int> taken;
    OrderedPipeline<int, int> pipeline(threads, 100);
    int next = 0;
    const auto make = [&]() -> std::optional<int> {
      if (next == 50) throw std::runtime_error("made");
      return next++;
    };
    EXPECT_THAT(
        [&] {
          pipeline.run(
              make, [](int) { return 1; }, [] { return [](int item) { return item; }; },
              [&](int item) {
                taken.push_back(item);
                return true;
              });
        },
        ThrowsMessage<std::runtime_error>("made"));
    EXPECT_EQ(taken.size(), 50u);
  }
}

TEST(OrderedPipeline, AnExceptionOfMakingAWorkerIsThatOfItsFirstItem) {
  OrderedPipeline<int, int> pipeline(3, 100);
  const auto make_worker = [] {
    throw std::runtime_error("no worker");
    return [](int item) { return item; };
  };
  EXPECT_THAT(
      [&] {
        pipeline.run([] { return std::optional(1); }, [](int) { return 1; }, make_worker,
                     [](int) { return true; });
      },
      ThrowsMessage<std::runtime_error>("no worker"));
}

}  // namespace
}  // namespace podium
