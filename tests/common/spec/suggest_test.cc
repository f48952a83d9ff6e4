#include "common/spec/suggest.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("micro", "micro"), 0);
  EXPECT_EQ(edit_distance("Micro", "micro"), 0);
  EXPECT_EQ(edit_distance("mirco", "micro"), 1);  // a swap
  EXPECT_EQ(edit_distance("lerning_rate", "learning_rate"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, TakesTheNearestOrNothing) {
  const std::vector<std::string> names = {"labels", "name", "lr", "layers"};
  EXPECT_EQ(closest("lable", names), "labels");
  EXPECT_EQ(closest("layer", names), "layers");
  EXPECT_EQ(closest("rl", names), "lr");
  EXPECT_EQ(closest("x", names), std::nullopt);
  EXPECT_EQ(closest("optimizer", names), std::nullopt);
  EXPECT_EQ(closest(std::string(100'000, 'l'), names), std::nullopt);
  EXPECT_EQ(closest("anything", std::vector<std::string>{}), std::nullopt);
}

}  // namespace
}  // namespace podium
