#include "common/model/layout_rules.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(LayoutRules, AreMultiples) {
  const LayoutRules rules{.tensor = 2, .pipeline = 3, .interleave = 4};
  EXPECT_EQ(rules.devices_unit(), 6);
  EXPECT_EQ(rules.heads_unit(), 2);
  EXPECT_EQ(rules.columns_unit(), 32);
  EXPECT_EQ(rules.layers_unit(), 12);
}

TEST(LayoutRules, AStepIsFullMicroBatchesOnEveryCopy) {
  const LayoutRules plain{.pipeline = 4};
  EXPECT_EQ(plain.batch_unit(3, 5), 15) << "any number of micro-batches goes through a pipeline";
  const LayoutRules interleaved{.pipeline = 4, .interleave = 2};
  EXPECT_EQ(interleaved.batch_unit(3, 5), 60) << "an interleaved one takes as many as it has stages together";
}

TEST(LayoutRules, OnlyAPipelineIsInterleaved) {
  EXPECT_TRUE(LayoutRules{}.possible());
  EXPECT_TRUE((LayoutRules{.pipeline = 2, .interleave = 2}.possible()));
  EXPECT_FALSE((LayoutRules{.interleave = 2}.possible()));
  EXPECT_FALSE((LayoutRules{.pipeline = 2, .interleave = 0}.possible()));
  EXPECT_FALSE((LayoutRules{.tensor = 0}.possible()));
}

}  // namespace
}  // namespace podium
