#include "worker/evaluate/wikitext.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/shared_data.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

TEST(Wikitext, ReadsAsPlainText) {
  EXPECT_EQ(detokenize_wikitext(
                " = Title = \n He paid $ 1 @,@ 000 ( or \" so \" ) ; it 's 3 @.@ 5 @-@ fold . Yes !\n"),
            " = Title =\nHe paid $ 1,000 (or \"so\"); it's 3.5-fold. Yes !\n");
  EXPECT_EQ(count_wikitext_words(" \n a b  c \n"), 4);
}

// What the reference makes of `text`, and how many words it counts.
std::string by_reference(const std::string& text) {
  const TempFolder folder;
  write_file_atomic(folder.path() / "in", text);
  Child child({"/bin/sh", "-c", "/usr/bin/python3 \"$0\" < \"$1/in\" > \"$1/out\"",
               test::source_path("tests/worker/evaluate/detokenize_reference.py"), folder.path()},
              folder.path() / "log");
  EXPECT_EQ(child.wait(), 0) << read_file(folder.path() / "log");
  return read_file(folder.path() / "out");
}

std::string by_us(const std::string& text) {
  return detokenize_wikitext(text) + "\n" + std::to_string(count_wikitext_words(text)) + "\n";
}

TEST(Wikitext, IsWhatMegatronMakesOfAnyText) {
  const std::vector<std::string> pieces{
      " ",  "  ", "\n",  "(",  ")",      "[",      "]",      "{",      "}",    "\"", "'",
      "s ", "/'", " 7/", "=",  " @-@ ",  " @,@ ",  " @.@ ",  " , ",    " . ",  "°",  " N ",
      "'s", "é",  "a",   "\t", "\u00A0", "\u3000", "\u2028", "\u0085", "\x1c", " ° "};
  Random random(5, 0);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += pieces[random.below(static_cast<std::uint32_t>(pieces.size()))];
    ASSERT_EQ(by_us(text), by_reference(text)) << round;
  }
}

TEST(Wikitext, IsWhatMegatronMakesOfTheValidationText) {
  const auto path = shared_data("lm/wikitext-2/valid.txt");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  const std::string text = read_file(*path);
  EXPECT_TRUE(by_us(text) == by_reference(text));
  EXPECT_NEAR(static_cast<double>(count_wikitext_words(text)), 217'646, 4)
      << "the published number with line ends";
}

}  // namespace
}  // namespace podium
