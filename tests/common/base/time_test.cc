#include "common/base/time.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

// From RFC 3339's own examples and the epoch's neighbourhood.
TEST(FormatTime, IsRfc3339) {
  EXPECT_EQ(format_time(from_millis(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(from_millis(482'196'050'520)), "1985-04-12T23:20:50.520Z");
  EXPECT_EQ(format_time(from_millis(-1)), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace podium
