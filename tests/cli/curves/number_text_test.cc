#include "cli/curves/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace podium::cli {
namespace {

TEST(NumberText, ValuesReadBackAsWritten) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e-300, 4.9e-324, 1.7976931348623157e308, -2.5})
    EXPECT_EQ(value_of(value_text(value)), value) << value_text(value);
  EXPECT_EQ(value_text(0.1), "0.1");
  EXPECT_EQ(value_text(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(value_text(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(value_text(NAN), "NaN");
}

TEST(NumberText, ReadsWhatOthersWrite) {
  EXPECT_EQ(value_of("+1e3"), 1000);
  EXPECT_EQ(value_of("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of("INF"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*value_of("nan")));
  for (const char* no : {"", " ", "1,5", "0x10", "info", "1 ", "nano", "--1"})
    EXPECT_FALSE(value_of(no)) << no;
  EXPECT_EQ(integer_of("-7"), -7);
  EXPECT_EQ(integer_of("100.0"), 100);
  EXPECT_EQ(integer_of("9223372036854775807"), INT64_MAX);
  for (const char* no : {"", "1.5", "1e300", "nan", "9223372036854775808", "x"})
    EXPECT_FALSE(integer_of(no)) << no;
}

TEST(NumberText, ReadsTimesInSecondsInMillisecondsAndAsDates) {
  EXPECT_EQ(time_of("1700000000.25"), 1700000000250);
  EXPECT_EQ(time_of("1700000000250"), 1700000000250);
  EXPECT_EQ(time_of("0"), 0);
  EXPECT_EQ(time_of("2023-11-14T22:13:20.25Z"), 1700000000250);
  EXPECT_EQ(time_of("2023-11-14 22:13:20"), 1700000000000);
  EXPECT_EQ(time_of("1970-01-01 23:59:59"), 86'399'000);
  EXPECT_TRUE(time_of("9000-12-31 00:00:00"));
  EXPECT_FALSE(time_of("9001-01-01 00:00:00"));
  for (const char* no :
       {"", "-1", "nan", "1e30", "2023-02-30 00:00:00", "2023-11-14 24:00:00", "2023-11-14",
        "2023-11-14 22:60:00", "2023-11-14 22:13:60", "2023-11-14 22:13:20.x", "1969-11-14 22:13:20"})
    EXPECT_FALSE(time_of(no)) << no;
}

}  // namespace
}  // namespace podium::cli
