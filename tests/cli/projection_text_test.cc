#include "cli/projection_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace podium::cli {
namespace {

using nlohmann::json;

json told(const json& p50_step, const json& p90_step, const json& p50_ms, const json& p90_ms) {
  return {{"doubt", ""},
          {"step", {{"p10", 3900}, {"p50", p50_step}, {"p90", p90_step}}},
          {"time_ms", {{"p10", 601'000}, {"p50", p50_ms}, {"p90", p90_ms}}}};
}

TEST(ProjectionText, TellsTheMiddleAndBothTenths) {
  EXPECT_EQ(projection_text(told(4200, 5100, 721'000, 1'081'000), 1000),
            "at step 4,200 (3,900 to 5,100), in 12m00s (10m00s to 18m00s)");
}

TEST(ProjectionText, LeavesOpenWhatLiesBeyondTheEnd) {
  EXPECT_EQ(projection_text(told(4200, nullptr, 721'000, nullptr), 1000),
            "at step 4,200 (3,900 or later), in 12m00s (10m00s or later)");
  EXPECT_EQ(projection_text(told(nullptr, nullptr, nullptr, nullptr), 1000),
            "at step 3,900 or later, in 10m00s or later");
}

TEST(ProjectionText, TellsWhyNobodyCanSay) {
  EXPECT_EQ(projection_text({{"doubt", "its curve has 3 points; 6 are needed"}}, 0),
            "its curve has 3 points; 6 are needed");
}

TEST(ProjectionText, TellsNoTimeThatHasPassed) {
  EXPECT_EQ(projection_text(told(4200, 5100, 721'000, 1'081'000), 5'000'000),
            "at step 4,200 (3,900 to 5,100), in 0s (0s to 0s)");
}

TEST(ProjectionText, TellsFollowersTheTimeAlone) {
  EXPECT_EQ(target_in_text(told(4200, 5100, 721'000, 1'081'000), 1000),
            "target in 12m00s (10m00s to 18m00s)");
  EXPECT_EQ(target_in_text(told(4200, nullptr, nullptr, nullptr), 1000), "target in 10m00s or later");
  EXPECT_EQ(target_in_text({{"doubt", "its curve has 3 points; 6 are needed"}}, 0), "");
}

}  // namespace
}  // namespace podium::cli
