// What goes to make room for an input.
#include "agent/staging/room.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr StoreTime kNow{std::chrono::hours(1000)};
constexpr StoreLimits kLimits{100, std::chrono::seconds(1000)};

StoredInput input(const std::string& key, std::int64_t bytes, std::int64_t age, bool held = false) {
  return {key, bytes, kNow - std::chrono::seconds(age), held};
}

TEST(RoomForInputs, TakesNothingAwayWhereItFits) {
  const Room room = make_room({input("a", 40, 10), input("b", 40, 20)}, 0, 20, kLimits, kNow);
  EXPECT_TRUE(room.fits);
  EXPECT_THAT(room.drop, IsEmpty());
}

TEST(RoomForInputs, TakesTheLongestUnusedFirstAndNoMoreThanItNeeds) {
  const Room room =
      make_room({input("a", 30, 10), input("b", 30, 30), input("c", 30, 20)}, 0, 50, kLimits, kNow);
  EXPECT_TRUE(room.fits);
  EXPECT_THAT(room.drop, ElementsAre("b", "c"));
}

TEST(RoomForInputs, OfTwoOfOneAgeTakesTheFirstByName) {
  EXPECT_THAT(make_room({input("b", 50, 10), input("a", 50, 10)}, 0, 50, kLimits, kNow).drop,
              ElementsAre("a"));
}

TEST(RoomForInputs, NeverTakesWhatATaskHolds) {
  const Room room = make_room({input("a", 60, 900, true), input("b", 40, 10)}, 0, 40, kLimits, kNow);
  EXPECT_TRUE(room.fits);
  EXPECT_THAT(room.drop, ElementsAre("b"));
}

TEST(RoomForInputs, TakesNothingThatWouldNotHelp) {
  const Room room = make_room({input("a", 60, 10, true), input("b", 30, 10)}, 0, 41, kLimits, kNow);
  EXPECT_FALSE(room.fits);
  EXPECT_THAT(room.drop, IsEmpty());
}

TEST(RoomForInputs, TakesWhatWasUnusedForTooLongInAnyCase) {
  const Room room =
      make_room({input("a", 1, 1001), input("b", 1, 1000), input("c", 1, 5000, true)}, 0, 1, kLimits, kNow);
  EXPECT_TRUE(room.fits);
  EXPECT_THAT(room.drop, ElementsAre("a"));
  EXPECT_THAT(make_room({input("a", 50, 1001), input("b", 100, 1, true)}, 0, 1, kLimits, kNow).drop,
              ElementsAre("a"));
}

TEST(RoomForInputs, CountsWhatIsOnItsWay) {
  EXPECT_TRUE(make_room({}, 60, 40, kLimits, kNow).fits);
  EXPECT_FALSE(make_room({}, 60, 41, kLimits, kNow).fits);
  EXPECT_THAT(make_room({input("a", 30, 1)}, 60, 30, kLimits, kNow).drop, ElementsAre("a"));
}

TEST(RoomForInputs, DoesNotOverflow) {
  EXPECT_FALSE(make_room({input("a", 30, 1, true)}, 60, INT64_MAX, kLimits, kNow).fits);
}

}  // namespace
}  // namespace podium
