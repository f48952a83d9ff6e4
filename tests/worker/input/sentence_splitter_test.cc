#include "worker/input/sentence_splitter.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> sentences(SentenceSplitter& splitter, std::string_view text) {
  std::vector<std::string> all;
  splitter.split(text, [&](std::string_view sentence) { all.emplace_back(sentence); });
  return all;
}

TEST(SentenceSplitter, EndsAtMarksAndLineEndsAndNotAtAbbreviations) {
  SentenceSplitter splitter;
  EXPECT_THAT(
      sentences(splitter, "Mr. Smith paid 3.5 dollars. Why?  He must. \"So?\" Yes!\nA line\n\n  two "),
      ElementsAre("Mr. Smith paid 3.5 dollars.", "Why?", "He must.", "\"So?\"", "Yes!", "A line", "two"));
  EXPECT_THAT(sentences(splitter, "Zürich ist schön. 東京です。大阪。"),
              ElementsAre("Zürich ist schön.", "東京です。", "大阪。"));
  EXPECT_THAT(sentences(splitter, " \r\n \n"), IsEmpty());
  EXPECT_THAT(sentences(splitter, ""), IsEmpty());
}

}  // namespace
}  // namespace podium
