#include "worker/infer/result_check.h"

#include <gtest/gtest.h>

#include <limits>

namespace podium::test {
namespace {

TEST(ResultCheck, MeasuresDifferencesAgainstWhatIsExpected) {
  const FirstResults expected{{3, 0}, {4}};
  EXPECT_EQ(relative_distance(expected, expected), 0);
  EXPECT_NEAR(relative_distance({{3, 0.3F}, {4.4F}}, expected), 0.5 / 5, 1e-6);
}

TEST(ResultCheck, TakesWhatIsNoNumberForWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const InferencePrecision precision : {InferencePrecision::fp32, InferencePrecision::fp8})
    EXPECT_GT(relative_distance({{nan, 0}, {4}}, {{3, 0}, {4}}), distance_tolerance(precision));
}

}  // namespace
}  // namespace podium::test
