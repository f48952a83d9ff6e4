#include "common/base/units.h"

#include <gtest/gtest.h>

#include <random>

namespace podium {
namespace {

using std::chrono::milliseconds;

TEST(ParseDuration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("90s"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("2h30m"), milliseconds(9'000'000));
  EXPECT_EQ(parse_duration("1.5h"), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("7d"), milliseconds(604'800'000));
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "5", "h", "5 h", "-5s", "1h1h", "30m2h", "5y", "1e3s", "nan s", "infs", "99999999999999d"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(FormatDuration, IsReadBackExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const milliseconds duration((random() >> (20 + i % 40)) % kLongestDuration.count());
    EXPECT_EQ(parse_duration(format_duration(duration)), duration) << format_duration(duration);
  }
  EXPECT_EQ(format_duration(milliseconds(90'000)), "1m30s");
}

TEST(ParseSize, KnowsPowersOfTenAndOfTwo) {
  EXPECT_EQ(parse_size("512MB"), 512'000'000);
  EXPECT_EQ(parse_size("80GiB"), 80LL << 30);
  EXPECT_EQ(parse_size("0B"), 0);
  for (const char* text : {"", "12", "12 MB", "MB", "1mb", "-1B", "1GBs", "99999999999TB"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Durations, AreBounded) {
  EXPECT_EQ(parse_duration("36500d"), kLongestDuration);
  for (const char* text : {"36500d1ms", "106751991167d", "36499d25h", "99999999999999999999s"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

}  // namespace
}  // namespace podium
