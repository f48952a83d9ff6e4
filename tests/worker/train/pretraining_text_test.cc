#include "worker/train/pretraining_text.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(PretrainingText, CollatePadsAndFlattens) {
  PretrainingSample first{{2, 10, 3, 11, 3}, 3, {{1, 3}, {20, 21}}, true};
  PretrainingSample second{{2, 12, 3, 13, 14, 3}, 3, {{4}, {22}}, false};
  const MicroBatch batch = collate({first, second}, 8, 0);
  EXPECT_EQ(batch.sequences, 2);
  EXPECT_EQ(batch.input_ids,
            (std::vector<std::int32_t>{2, 10, 3, 11, 3, 0, 0, 0, 2, 12, 3, 13, 14, 3, 0, 0}));
  EXPECT_EQ(batch.token_types, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(batch.valid_lengths, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(batch.scored_positions, (std::vector<std::int32_t>{1, 3, 12}));
  EXPECT_EQ(batch.labels, (std::vector<std::int32_t>{20, 21, 22}));
  EXPECT_EQ(batch.next_sentence_labels, (std::vector<std::int32_t>{1, 0}));
}

}  // namespace
}  // namespace podium
