// Tables, numbers and text for the terminal.
#include <gtest/gtest.h>

#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

TEST(Humanise, Numbers) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(-1234567), "-1,234,567");
  EXPECT_EQ(human_value(0.21344), "0.2134");
  EXPECT_EQ(human_value(1.5e-5), "1.5e-05");
  EXPECT_EQ(human_value(123456.7), "123,457");
  EXPECT_EQ(human_value(nlohmann::json()), "–");
  EXPECT_EQ(human_value(nlohmann::json("NaN")), "NaN");
  EXPECT_EQ(human_bytes(812), "812 B");
  EXPECT_EQ(human_bytes(1536LL << 20), "1.5 GiB");
}

TEST(Humanise, Times) {
  EXPECT_EQ(human_seconds(0.4), "0s");
  EXPECT_EQ(human_seconds(59.9), "59s");
  EXPECT_EQ(human_seconds(192), "3m12s");
  EXPECT_EQ(human_seconds(7500), "2h05m");
  EXPECT_EQ(human_seconds(90000), "1d1h");
  EXPECT_EQ(human_seconds(-5), "0s");
  EXPECT_EQ(human_ago(1000, 61000), "1m00s ago");
  EXPECT_EQ(human_ago(nlohmann::json(), 61000), "–");
}

TEST(Terminal, CountsAndCutsCharactersNotBytes) {
  EXPECT_EQ(display_width("Zürich → x"), 10);
  EXPECT_EQ(shortened("Zürich", 6), "Zürich");
  EXPECT_EQ(shortened("Zürich", 4), "Zür…");
  EXPECT_EQ(shortened("Zürich", 1), "…");
  EXPECT_EQ(printable("a\x1b[31m\tb\xC2\x9B"), "a?[31m?b?");
  EXPECT_EQ(printable("Zürich ©"), "Zürich ©");
}

TEST(Terminal, PaintsOnlyWhereColourIsWanted) {
  EXPECT_EQ(paint({true, false, 80}, Colour::red, "x"), "x");
  EXPECT_EQ(paint({true, true, 80}, Colour::red, "x"), "\x1b[31mx\x1b[0m");
}

TEST(Table, AlignsItsColumns) {
  Table table({{"ID", true}, {"NAME"}, {"WHY"}});
  table.add({{"7"}, {"a"}, {"because"}});
  table.add({{"1234"}, {"bcd"}, {""}});
  EXPECT_EQ(table.render({}), "  ID  NAME  WHY\n   7  a     because\n1234  bcd   \n");
}

TEST(Table, LeavesOutWhatMattersLeastWhereItsColumnsDoNotFit) {
  Table table(
      {{"ID", true}, {"NAME", false, true, 8}, {"MORE", false, false, 0, 2}, {"ALSO", false, false, 0, 1}});
  table.add({{"7"}, {"quickstart"}, {"m"}, {"a"}});
  EXPECT_EQ(table.render({true, false, 80}), "ID  NAME        MORE  ALSO\n 7  quickstart  m     a\n");
  EXPECT_EQ(table.render({true, false, 24}), "ID  NAME      MORE  ALSO\n 7  quickst…  m     a\n");
  EXPECT_EQ(table.render({true, false, 23}), "ID  NAME        ALSO\n 7  quickstart  a\n");
  EXPECT_EQ(table.render({true, false, 12}), "ID  NAME\n 7  quickst…\n");
}

TEST(Table, ShrinksToTheTerminal) {
  Table table({{"ID", true}, {"NAME", false, true}, {"WHY", false, true}});
  table.add({{"7"}, {std::string(60, 'n')}, {std::string(90, 'w')}});
  for (int width = 20; width <= 170; ++width) {
    const std::string text = table.render({true, false, width});
    EXPECT_LE(display_width(text.substr(text.find('\n') + 1)) - 1, width);
  }
}

}  // namespace
}  // namespace podium::cli
