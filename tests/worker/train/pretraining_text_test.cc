#include "worker/train/pretraining_text.h"

#include <gtest/gtest.h>

#include "worker/train/failure.h"

namespace podium {
namespace {

TEST(PretrainingText, CollatePadsAndFlattens) {
  PretrainingSample first{{2, 10, 3, 11, 3}, 3, {{1, 3}, {20, 21}}, true};
  PretrainingSample second{{2, 12, 3, 13, 14, 3}, 3, {{4}, {22}}, false};
  const BertBatch batch = collate({first, second}, 8, 0);
  EXPECT_EQ(batch.sequences, 2);
  EXPECT_EQ(batch.input_ids,
            (std::vector<std::int32_t>{2, 10, 3, 11, 3, 0, 0, 0, 2, 12, 3, 13, 14, 3, 0, 0}));
  EXPECT_EQ(batch.token_types, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(batch.valid_lengths, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(batch.masked_positions, (std::vector<std::int32_t>{1, 3, 12}));
  EXPECT_EQ(batch.masked_labels, (std::vector<std::int32_t>{20, 21, 22}));
  EXPECT_EQ(batch.next_sentence_labels, (std::vector<std::int32_t>{1, 0}));
}

TEST(PretrainingText, TheModelsVocabularyHoldsTheTokenizers) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "d"};
  const Vocabulary vocabulary(tokens, "made up");
  ModelSpec model;
  EXPECT_EQ(model_vocabulary(model, vocabulary), 16) << "padded to a multiple of 8";
  model.vocab = 9;
  EXPECT_EQ(model_vocabulary(model, vocabulary), 9);
  model.vocab = 8;
  EXPECT_THROW(model_vocabulary(model, vocabulary), Failure);
}

}  // namespace
}  // namespace podium
