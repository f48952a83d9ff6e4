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
    LabelledText text = LabelledText::read({path()}, spec_, tokenizer_, reading, classes);
    EXPECT_EQ(reading.expected(), content.size());
    EXPECT_EQ(reading.done(), content.size());
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
  static std::vector<std::int32_t> ids(const LabelledText& text, std::int64_t sample) {
    return text.sentences(sample).first;
  }
  std::filesystem::path path() const { return folder_.path() / "labelled.tsv"; }

  const TempFolder folder_;
  ClassifySpec spec_;
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
  EXPECT_EQ(text.length(1), 3);
  EXPECT_EQ(text.identity().tokens, 6);
  EXPECT_EQ(text.identity().sentences, 3);
}

TEST_F(LabelledTextTest, GivenClassesKeepTheirOrderAndNoOtherIsTaken) {
  const LabelledText text = read("sentence\tlabel\ngood\tb\nbad\ta\n", {"c", "b", "a"});
  EXPECT_THAT(text.classes(), ElementsAre("c", "b", "a"));
  EXPECT_EQ(text.label(0), 1);
  EXPECT_EQ(text.label(1), 2);
  EXPECT_THAT(refusal("sentence\tlabel\ngood\tb\nbad\td\n", {"a", "b"}),
              AllOf(HasSubstr("labelled.tsv:3:"), HasSubstr("\"d\" is none of"), HasSubstr(": a, b")));
}

TEST_F(LabelledTextTest, PairsHaveTwoSentences) {
  spec_.sentence.name = "#1 String";
  spec_.pair = ColumnSpec{"#2 String"};
  spec_.label.name = "Quality";
  const LabelledText text = read(
      "\xef\xbb\xbfQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
      "1\t702876\t702977\tgood \"film\tbad\r\n0\t2\t3\tbad\tgood film good\r\n");
  ASSERT_EQ(text.size(), 2);
  EXPECT_TRUE(text.sentences(1).is_pair);
  EXPECT_THAT(text.sentences(0).first, ElementsAre(5, 1, 7));
  EXPECT_THAT(text.sentences(0).second, ElementsAre(6));
  EXPECT_THAT(text.sentences(1).second, ElementsAre(5, 7, 5));
  EXPECT_EQ(text.length(1), 4);
  EXPECT_EQ(text.label(0), 1);
  EXPECT_EQ(text.identity().sentences, 2);
  EXPECT_THAT(refusal("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t2\t3\tgood\t \n"),
              HasSubstr(":2: has no second sentence"));
}

TEST_F(LabelledTextTest, ALineOfCoLAHasItsColumnsByNumber) {
  spec_.header = false;
  spec_.sentence = {.number = 4};
  spec_.label = {.number = 2};
  const LabelledText text = read("gj04\t1\t\tGood film.\ngj04\t0\t*\tFilm good bad.\n");
  ASSERT_EQ(text.size(), 2);
  EXPECT_THAT(ids(text, 1), ElementsAre(7, 5, 6, 1));
  EXPECT_THAT(text.classes(), ElementsAre("0", "1"));
}

TEST_F(LabelledTextTest, RegressionTakesFiniteNumbersAlone) {
  spec_.regression = true;
  const LabelledText text = read("sentence\tlabel\ngood\t3.75\nbad\t-1e-3\ngood\t5\n");
  EXPECT_THAT(text.classes(), ElementsAre());
  EXPECT_EQ(text.value(0), 3.75F);
  EXPECT_EQ(text.value(1), -1e-3F);
  EXPECT_NE(text.identity(), read("sentence\tlabel\ngood\t3.5\nbad\t-1e-3\ngood\t5\n").identity());
  EXPECT_EQ(read("sentence\tlabel\ngood\t1\n").size(), 1) << "all may be the same";
  for (const char* label : {"good", "1.5x", "nan", "inf", "-inf", "1e300", "1,5"})
    EXPECT_THAT(refusal("sentence\tlabel\ngood\t1\nbad\t" + std::string(label) + "\n"),
                HasSubstr(":3: the label \"" + std::string(label) + "\" is no finite number"));
}

// Checkpoints of single sentences with classes are gone on with: their text is to have the hash that it had.
TEST_F(LabelledTextTest, TheHashOfTextStays) {
  EXPECT_EQ(read("sentence\tlabel\ngood film\t0\nbad\t1\n").identity().xxh3, "06f70678d2dd3e9c");
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
              AllOf(HasSubstr(":1: names no column \"sentence\", but good film, 0;"),
                    HasSubstr("separated by tabs")));
  EXPECT_THAT(refusal("sentence,label\ngood,0\n"), HasSubstr(":1: names no column \"sentence\""));
  EXPECT_THAT(refusal("sentence\tclass\n"), HasSubstr(":1: names no column \"label\""));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t0\nbad\n"), HasSubstr(":3: has 1 columns"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t0\nbad\t1\t2\n"), HasSubstr(":3: has 3 columns"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t\n"), HasSubstr(":2: has no label"));
  EXPECT_THAT(refusal("sentence\tlabel\n \t1\n"), HasSubstr(":2: has no sentence"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t1 \n"), HasSubstr(":2: the label \"1 \" begins or ends with"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\t1\nbad\t1\n"), HasSubstr("every label is \"1\""));
  EXPECT_THAT(refusal("sentence\tlabel\n"), HasSubstr("no sentence"));
  EXPECT_THAT(refusal(""), HasSubstr("no sentence"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood \xff\t1\n"), HasSubstr(":2"));
}

TEST_F(LabelledTextTest, ControlCharactersAreNoTextAndStandInNoLabel) {
  EXPECT_THAT(refusal("sentence\tlabel\ngood\ta\n\x01\x02\tb\n"),
              HasSubstr("labelled.tsv:3: has a sentence without a token"));
  EXPECT_THAT(refusal("sentence\tlabel\ngood\ta\nbad\t\x1b[31mb\n"),
              HasSubstr("labelled.tsv:3: the label \" [31mb\" has a control character"));
  EXPECT_THAT(refusal(std::string("sentence\tlabel\ngood\ta\nbad\tb") + '\0' + "c\n"),
              HasSubstr("labelled.tsv:3: the label \"b c\" has a control character"));
}

TEST_F(LabelledTextTest, ValuesAreNoClasses) {
  std::string content = "sentence\tlabel\n";
  for (int i = 0; i < 1000; ++i) content += "good\t" + std::to_string(i) + "\n";
  EXPECT_EQ(read(content).classes().size(), 1000U);
  EXPECT_THAT(refusal(content + "good\t1000\n"), HasSubstr(":1002: \"1000\" is the 1001th label"));
}

}  // namespace
}  // namespace podium
