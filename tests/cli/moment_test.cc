#include "cli/moment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace podium::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(Moment, ReadsWhatPeopleType) {
  ::setenv("TZ", "UTC-2", 1);                        // two hours east
  const Time noon = from_millis(1'772'366'400'000);  // 2026-03-01T12:00Z
  EXPECT_EQ(parse_moment("2026-03-01T12:00Z", {}), noon);
  EXPECT_EQ(parse_moment("2026-03-01T14:00", {}), noon);
  EXPECT_EQ(parse_moment("2026-03-01 14:00:30", {}), noon + std::chrono::seconds(30));
  EXPECT_EQ(parse_moment("+2h30m", noon), noon + hours(2) + minutes(30));
  for (const char* wrong : {"", "noon", "14:00", "2026-03-01", "2026-03-01T14:00 h", "+soon",
                            "2026-13-01T14:00", "2026-02-30T14:00", "2026-04-31T00:00Z"})
    EXPECT_EQ(parse_moment(wrong, noon), std::nullopt) << wrong;
}

TEST(Moment, IsLocalInWhatTheCoordinatorSays) {
  ::setenv("TZ", "UTC-2", 1);
  EXPECT_EQ(
      with_local_times("starts again at 2026-03-01 12:00:05 UTC, by 2026-03-01 23:30:00 UTC at the latest"),
      "starts again at 2026-03-01 14:00:05, by 2026-03-02 01:30:00 at the latest");
  for (const char* other : {"", "UTC", " UTC", "in UTC", "2026-99-01 12:00:05 UTC", "x26-03-01 12:00:05 UTC"})
    EXPECT_EQ(with_local_times(other), other);
}

}  // namespace
}  // namespace podium::cli
