// What a classifier takes, whoever asks it: the command line and the server have these rules.
#include "worker/ask/classes.h"

#include <gmock/gmock.h>

#include "tests/worker/nn/small_models.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

using testing::HasSubstr;

class ClassesTest : public testing::Test {
 protected:
  static SourceModel folder(std::optional<bool> pairs) {
    SourceModel model{.origin = "moods", .spec = test::small_spec(ModelFamily::bert)};
    model.head = ModelHead(TrainingTask::classify, {"no", "yes"});
    model.head.pairs = pairs;
    return model;
  }
  static SourceModel checkpoint(bool pairs) {
    SourceModel model = folder(pairs);
    model.checkpoint.emplace();
    TrainingSpec& training = model.checkpoint->state.spec.training;
    training.sequence_length = 6;
    if (pairs) training.classify.pair = ColumnSpec{"second"};
    return model;
  }
  TextSequence sequence(const SourceModel& model, const std::string& text,
                        const std::optional<std::string>& pair = {}, bool truncate = false) const {
    return class_sequence(tokenizer_, text, pair, class_habits(model), truncate, model.origin, "line 3");
  }
  std::string refusal(const SourceModel& model, const std::string& text,
                      const std::optional<std::string>& pair = {}) const {
    try {
      sequence(model, text, pair);
    } catch (const BadData& error) {
      return error.what();
    }
    return "";
  }

  const WordPieceTokenizer tokenizer_{
      Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"}, "vocab.txt"), true};
};

TEST_F(ClassesTest, WhatWasTrainedOnPairsTakesPairsAlone) {
  for (const SourceModel& model : {folder(true), checkpoint(true)}) {
    EXPECT_EQ(refusal(model, "a"), "line 3: moods was trained on pairs; add the second sentence");
    EXPECT_EQ(refusal(model, "a", "b"), "");
  }
  for (const SourceModel& model : {folder(false), checkpoint(false)}) {
    EXPECT_EQ(refusal(model, "a", "b"), "line 3: moods was trained on single sentences; leave out the pair");
    EXPECT_EQ(refusal(model, "a"), "");
  }
  EXPECT_EQ(refusal(folder({}), "a"), "") << "a folder of others does not say";
  EXPECT_EQ(refusal(folder({}), "a", "b"), "");
}

TEST_F(ClassesTest, WhatIsEmptyOrHasNoTokenHasNoClass) {
  EXPECT_EQ(refusal(folder({}), " \t"), "line 3: the sentence is empty");
  EXPECT_EQ(refusal(folder({}), "a", ""), "line 3: a sentence of the pair is empty");
  EXPECT_EQ(refusal(folder({}), "\x01"), "line 3: the sentence has no token");
  EXPECT_EQ(refusal(folder({}), "a", "\x01"), "line 3: a sentence of the pair has no token");
}

TEST_F(ClassesTest, ALongTextIsCutAsInTrainingOrWhereSomebodyAsks) {
  const TextSequence cut = sequence(checkpoint(false), "a b a b a b a b");
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.length(), 6);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "a ";
  EXPECT_THAT(refusal(folder({}), many), HasSubstr("has 102 tokens and the model takes at most"));
  EXPECT_EQ(sequence(folder({}), many, {}, true).length(), folder({}).spec.max_positions);
  EXPECT_FALSE(sequence(folder({}), "a b").cut);
}

}  // namespace
}  // namespace podium
