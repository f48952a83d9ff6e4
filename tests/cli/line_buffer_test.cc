// Output as lines: what is shown of bars, prompts and lines that are written piece by piece, and when.
#include "cli/line_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podium {
namespace {

using cli::LineBuffer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

TEST(LineBuffer, GivesWholeLines) {
  LineBuffer buffer;
  EXPECT_THAT(buffer.feed("one\ntw", 0), ElementsAre("one"));
  EXPECT_THAT(buffer.feed("o\n\nthree", 1), ElementsAre("two", ""));
  EXPECT_THAT(buffer.rest(), Optional(std::string("three")));
  EXPECT_EQ(buffer.rest(), std::nullopt);
}

TEST(LineBuffer, ACarriageReturnBeforeTheEndIsPartOfIt) {
  LineBuffer buffer;
  EXPECT_THAT(buffer.feed("one\r", 0), IsEmpty());
  EXPECT_THAT(buffer.feed("\ntwo\r\n", 0), ElementsAre("one", "two"));
}

TEST(LineBuffer, OfABarTheLastStateIsShownOnceASecond) {
  LineBuffer buffer;
  std::vector<std::pair<int, std::string>> shown;
  for (int now = 0; now <= 3000; now += 100) {
    EXPECT_THAT(buffer.feed("\r" + std::to_string(now / 100) + "%", now), IsEmpty());
    if (const auto line = buffer.unended(now)) shown.emplace_back(now, *line);
  }
  ASSERT_GE(shown.size(), 3u);
  for (std::size_t i = 1; i < shown.size(); ++i) EXPECT_EQ(shown[i].first - shown[i - 1].first, 1000);
  EXPECT_EQ(shown.back().second, std::to_string(shown.back().first / 100) + "%");
  EXPECT_THAT(buffer.feed("\r100%\n", 3100), ElementsAre("100%"));
}

TEST(LineBuffer, APromptIsShownOnceItIsSilent) {
  LineBuffer buffer;
  buffer.feed("Continue? ", 0);
  EXPECT_EQ(buffer.unended(999), std::nullopt);
  EXPECT_THAT(buffer.unended(1000), Optional(std::string("Continue? ")));
  EXPECT_EQ(buffer.unended(5000), std::nullopt) << "once";
  EXPECT_THAT(buffer.feed("y\n", 6000), ElementsAre("Continue? y"));
}

TEST(LineBuffer, WhatWasShownWholeIsNotShownAgain) {
  LineBuffer buffer;
  buffer.feed("done", 0);
  EXPECT_TRUE(buffer.unended(2000));
  EXPECT_THAT(buffer.feed("\nnext\n", 3000), ElementsAre("next"));
}

TEST(LineBuffer, AnEndlessLineComesInParts) {
  LineBuffer buffer;
  const auto lines = buffer.feed(std::string(200'000, 'x'), 0);
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines, ::testing::Each(SizeIs(65'536)));
  EXPECT_THAT(buffer.rest(), Optional(SizeIs(200'000 - 3 * 65'536)));
}

// Half a character is no UTF-8 in either part.
TEST(LineBuffer, CutsNoCharacterOfALongLine) {
  std::string text = "a";
  for (int i = 0; i < 30'000; ++i) text += "\u20ac";
  LineBuffer buffer;
  const std::vector<std::string> parts = buffer.feed(text + "\n", 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0] + parts[1], text);
  EXPECT_EQ(parts[1].substr(0, 3), "\u20ac");
  EXPECT_EQ(buffer.feed(std::string(70'000, '\x80') + "\n", 0).size(), 2u)
      << "what is no UTF-8 is cut anywhere";
}

}  // namespace
}  // namespace podium
