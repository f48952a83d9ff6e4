#include "worker/input/utf8.h"

#include <gmock/gmock.h>
#include <unicode/uchar.h>

#include <fstream>

#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/white_space.h"

namespace podium {
namespace {

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("naïve 博"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xC3"), 0u);
  EXPECT_EQ(find_invalid_utf8("a\xED\xA0\x80"), 1u) << "a surrogate";
}

TEST(Utf8, AFileThatIsNotIsNamedByItsLine) {
  const TempFolder folder;
  const auto file = folder.path() / "a.txt";
  std::ofstream(file) << "na\xC3\xAFve\nb";
  EXPECT_EQ(read_utf8_input(file), "naïve\nb");
  std::ofstream(file) << "a\nb\xE9\n";
  EXPECT_THAT(
      [&] { read_utf8_input(file); },
      testing::ThrowsMessage<BadData>(testing::HasSubstr("a.txt:2: byte 4 of the file is not UTF-8")));
}

TEST(Utf8, ControlCharactersAreThoseOfUnicodesCategory) {
  for (UChar32 c = 0; c <= 0xFFFF; ++c) {
    if (U_IS_SURROGATE(c)) continue;
    std::string text = "a";
    append_utf8(c, text);
    const bool is_control = u_charType(c) == U_CONTROL_CHAR;
    ASSERT_EQ(find_control(text), is_control ? 1 : std::string::npos) << c;
    ASSERT_EQ(without_controls(text), is_control ? "a " : text) << c;
  }
  EXPECT_EQ(without_controls("a\tb\x1b[0m\u0085c\n", "\t"), "a\tb [0m c ");
}

// What str.isspace() says in Python 3.11.
TEST(Utf8, PythonsWhiteSpaceIsThatOfPython) {
  for (UChar32 c = 0; c <= 0x10FFFF; ++c) {
    const bool expected = (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 ||
                          c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
                          c == 0x202F || c == 0x205F || c == 0x3000;
    ASSERT_EQ(is_python_space(c), expected) << c;
  }
}

}  // namespace
}  // namespace podium
