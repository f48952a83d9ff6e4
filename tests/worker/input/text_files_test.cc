#include "worker/input/text_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadData& error) {
    return error.what();
  }
  return "";
}

TEST(TextFiles, GlobsAreSortedAndPatternsKeepTheirOrder) {
  const TempFolder folder;
  for (const char* name : {"b.txt", "a.txt", "z.md"}) std::ofstream(folder.path() / name) << "x\n";
  EXPECT_THAT(expand_globs({"z.md", "*.txt"}, folder.path()),
              ElementsAre(folder.path() / "z.md", folder.path() / "a.txt", folder.path() / "b.txt"));
}

TEST(TextFiles, APatternWithoutAMatchNamesItself) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { expand_globs({"none-*.txt"}, folder.path()); }),
              HasSubstr((folder.path() / "none-*.txt").string()));
}

TEST(TextFiles, LinesMayEndInAnyWayAndTheLastNeedNoEnd) {
  const TempFolder folder;
  std::ofstream(folder.path() / "t.txt") << "one\r\n\ntwo";
  std::vector<std::string> lines;
  for_each_line(folder.path() / "t.txt", [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_THAT(lines, ElementsAre("one", "", "two"));
}

TEST(TextFiles, LinesLongerThanTheReadBufferStayWhole) {
  const TempFolder folder;
  std::ofstream(folder.path() / "t.txt") << std::string(3 << 20, 'x') << "\nend\n";
  std::vector<std::size_t> lengths;
  for_each_line(folder.path() / "t.txt", [&](std::string_view line) { lengths.push_back(line.size()); });
  EXPECT_THAT(lengths, ElementsAre(std::size_t{3} << 20, 3u));
}

TEST(TextFiles, ALineThatIsTooLongIsRefused) {
  const TempFolder folder;
  const auto path = folder.path() / "t.txt";
  std::ofstream(path) << "fine\n";
  std::filesystem::resize_file(path, kLongestLine + 6);
  EXPECT_THAT(error_of([&] { for_each_line(path, [](std::string_view) {}); }),
              HasSubstr(path.string() + ":2: the line is longer than 256 MiB"));
}

TEST(TextFiles, ATextInMemoryHasTheSameLines) {
  std::vector<std::string> lines;
  for_each_line_in("one\r\n\ntwo", [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_THAT(lines, ElementsAre("one", "", "two"));
}

TEST(TextFiles, BadUtf8NamesFileAndLine) {
  const TempFolder folder;
  const auto path = folder.path() / "t.txt";
  std::ofstream(path) << "fine\nalso fine\nbr\xFFken\n";
  EXPECT_THAT(error_of([&] { for_each_line(path, [](std::string_view) {}); }),
              HasSubstr(path.string() + ":3"));
}

TEST(TextFiles, AnUnreadableFileIsNamed) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { for_each_line(folder.path() / "gone.txt", [](std::string_view) {}); }),
              HasSubstr("gone.txt"));
  EXPECT_THAT(error_of([&] { for_each_line(folder.path(), [](std::string_view) {}); }),
              HasSubstr(folder.path().string()))
      << "a folder is no text";
}

}  // namespace
}  // namespace podium
