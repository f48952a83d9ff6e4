#include "worker/tasks/classify/labelled_text.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LabelledTextTest : public testing::Test {
 protected:
  LabelledText read(const std::string& content, const std::vector<std::string>& classes = {}) const {
    write_file_atomic(path(), content);
    Reading reading;
    LabelledText text = LabelledText::read({path()}, tokenizer_, reading, classes);
    EXPECT_EQ(reading.expected(), content.size());
    return text;
  }
  std::string refusal(const std::string& content, const std::vector<std::string>& classes = {}) const {
    try {
      read(content, classes);
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr(path().string()));
      return error.what();
    }
    return "";
  }
  static std::vector<std::int32_t> ids(const LabelledText& text, std::int64_t sentence,
                                       std::int64_t most = 100) {
    std::vector<std::int32_t> found;
    text.append(sentence, most, found);
    return found;
  }
  std::filesystem::path path() const { return folder_.path() / "labelled.tsv"; }

  const TempFolder folder_;
  const WordPieceTokenizer tokenizer_{
      Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film"}, "test"), true};
};

TEST_F(LabelledTextTest, ColumnsAreThoseThatTheFirstLineNamesAndClassesAreSorted) {
  const LabelledText text =
      read("id\tlabel\tsentence\n7\tpos\tGood film\r\n8\tneg\tbad bad film\n9\tpos\tgood");
  ASSERT_EQ(text.size(), 3);
  EXPECT_THAT(text.classes(), ElementsAre("neg", "pos"));
  EXPECT_EQ(text.label(0), 1);
  EXPECT_EQ(text.label(1), 0);
  EXPECT_EQ(text.label(2), 1);
  EXPECT_THAT(ids(text, 0), ElementsAre(5, 7));
  EXPECT_THAT(ids(text, 1), ElementsAre(6, 6, 7));
  EXPECT_THAT(ids(text, 1, 2), ElementsAre(6, 6));
  EXPECT_EQ(text.length(1), 3);
  EXPECT_EQ(text.identity().tokens, 6);
  EXPECT_EQ(text.identity().sentences, 3);
}

TEST_F(LabelledTextTest, HeldOutTextHasTheClassesOfTheTrainingText) {
  const LabelledText text = read("sentence\tlabel\ngood\tb\n", {"a", "b", "c"});
  EXPECT_THAT(text.classes(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(text.label(0), 1);
  EXPECT_THAT(refusal("sentence\tlabel\ngood\tb\nbad\td\n", {"a", "b"}),
              AllOf(HasSubstr("labelled.tsv:3:"), HasSubstr("\"d\" is none of the training text's: a, b")));
}

TEST_F(LabelledTextTest, AnotherOrderLabelOrCutIsAnotherText) {
  const std::string hash = read("sentence\tlabel\ngood film\t0\nbad\t1\n").identity().xxh3;
  EXPECT_EQ(read("label\tsentence\n0\tgood film\n1\tbad\n").identity().xxh3, hash);
  for (const char* other :
       {"sentence\tlabel\nbad\t1\ngood film\t0\n", "sentence\tlabel\ngood film\t1\nbad\t0\n",
        "sentence\tlabel\ngood\t0\nfilm bad\t1\n", "sentence\tlabel\ngood film\t0\nbad\t2\n"})
    EXPECT_NE(read(other).identity().xxh3, hash) << other;
}

TEST_F(LabelledTextTest, WhatIsNotLabelledTextIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal("good film\t0\nbad\t1\n"),
              AllOf(HasSubstr(":1: names no column \"sentence\""), HasSubstr("separated by tabs")));
  EXPECT_THAT(refusal("sentence,label\ngood,0\n"), HasSubstr(":1: names no column \"sentence\""));
  EXPECT_THAT(refusal("sentence\tclass\n"), HasSubstr(":1: names no column \"label\""));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t0\nbad\n"), HasSubstr(":3: has 1 columns"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t0\nbad\t1\t2\n"), HasSubstr(":3: has 3 columns"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t\n"), HasSubstr(":2: has no label"));
  EXPECT_THAT(refusal("sentence\tlabel\n \t1\n"), HasSubstr(":2: has no sentence"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t1\nbad\t1\n"), HasSubstr("every label is \"1\""));
  EXPECT_THAT(refusal("sentence\tlabel\n"), HasSubstr("no sentence"));
  EXPECT_THAT(refusal(""), HasSubstr("no sentence"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood \xff\t1\n"), HasSubstr(":2"));
}

TEST_F(LabelledTextTest, ValuesAreNoClasses) {
  std::string content = "sentence\tlabel\n";
  for (int i = 0; i < 1000; ++i) content += "good\t" + std::to_string(i) + "\n";
  EXPECT_EQ(read(content).classes().size(), 1000U);
  EXPECT_THAT(refusal(content + "good\t1000\n"), HasSubstr(":1002: \"1000\" is the 1001th label"));
}

}  // namespace
}  // namespace podium
