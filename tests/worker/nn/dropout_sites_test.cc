#include "worker/nn/dropout_sites.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace podium {
namespace {

// Two dropouts of one number would drop the same elements together.
TEST(DropoutSites, OfEmbeddingsHeadsAndAllLayersArePairwiseDistinct) {
  std::map<std::uint32_t, std::string> owners{{kEmbeddingDropoutSite, "the embeddings"},
                                              {kSequenceHeadDropoutSite, "the head of sequences"}};
  ASSERT_EQ(owners.size(), 2u);
  for (int layer = 0; layer < 1000; ++layer) {
    const LayerDropoutSites sites = layer_dropout_sites(layer);
    for (const std::uint32_t site : {sites.attention, sites.attention_output, sites.feed_forward_output}) {
      const auto [owner, is_new] = owners.emplace(site, "layer " + std::to_string(layer));
      ASSERT_TRUE(is_new) << "layer " << layer << " shares " << site << " with " << owner->second;
    }
  }
}

TEST(DropoutSites, StayWhatCheckpointsWereTrainedWith) {
  EXPECT_EQ(kEmbeddingDropoutSite, 0u);
  EXPECT_EQ(kSequenceHeadDropoutSite, 1u);
  EXPECT_EQ(layer_dropout_sites(0).attention, 16u);
  EXPECT_EQ(layer_dropout_sites(23).attention_output, 385u);
  EXPECT_EQ(layer_dropout_sites(23).feed_forward_output, 386u);
}

}  // namespace
}  // namespace podium
