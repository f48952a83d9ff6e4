// Against Python's csv module (csv_reference.py) on hostile text, whole and cut into parts; and what it
// refuses.
#include "worker/input/csv_records.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Records = std::vector<std::pair<std::int64_t, std::vector<std::string>>>;

Records records_of(std::string_view text, std::size_t part = std::string_view::npos) {
  Records found;
  CsvRecords records("t.csv", [&](std::int64_t line, const std::vector<std::string>& fields) {
    found.emplace_back(line, fields);
  });
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) records.add(text.substr(0, part));
  records.end();
  return found;
}

std::string refusal(std::string_view text) {
  try {
    records_of(text);
  } catch (const BadData& error) {
    return error.what();
  }
  return "";
}

// Null where the text is refused.
json rows_of(const std::string& text, std::size_t part) {
  json rows = json::array();
  try {
    for (const auto& [line, fields] : records_of(text, part)) rows.push_back(fields);
  } catch (const BadData&) {
    return nullptr;
  }
  return rows;
}

TEST(CsvRecords, AreThoseOfPythonsModule) {
  std::mt19937 random(3);
  const std::string pieces[] = {"a", "bc", "\"", "\"", "\"\"", ",", ",", "\n", "\r\n", "\r", " ", "\t", "é"};
  std::vector<std::string> texts{""};
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (unsigned count = random() % 14; count > 0; --count) text += pieces[random() % std::size(pieces)];
    texts.push_back(text);
  }
  const TempFolder folder;
  std::string lines;
  for (const std::string& text : texts) lines += json(text).dump() + "\n";
  write_file_atomic(folder.path() / "texts", lines);
  const std::string command = "/usr/bin/python3 " + test::source_path("tests/worker/input/csv_reference.py ") +
                              (folder.path() / "texts").string() + " > " + (folder.path() / "rows").string();
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0);
  std::istringstream rows(read_file(folder.path() / "rows"));
  int refused = 0;
  for (const std::string& text : texts) {
    std::string line;
    ASSERT_TRUE(std::getline(rows, line));
    const json expected = json::parse(line);
    refused += expected.is_null();
    for (const std::size_t part : {std::string::npos, std::size_t{1}, std::size_t{3}})
      EXPECT_EQ(rows_of(text, part), expected) << json(text) << " in parts of " << part;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 3500);
}

TEST(CsvRecords, TellTheLineOfTheirBeginning) {
  EXPECT_THAT(records_of("a,b\r\n\r\n\"1\r\n2\n3\",4\r5\n"),
              ElementsAre(Pair(1, ElementsAre("a", "b")), Pair(3, ElementsAre("1\r\n2\n3", "4")),
                          Pair(6, ElementsAre("5"))));
}

TEST(CsvRecords, WhatIsMalformedIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("a\n\"b\nc\n"), HasSubstr("t.csv:2: a quote that opens a field is never closed"));
  EXPECT_THAT(refusal("a\n\"b\nc\"d\n"), HasSubstr("t.csv:3: a comma or a line end must follow the quote"));
  EXPECT_THAT(refusal("a\n" + std::string(CsvRecords::kMostFields, ',')),
              HasSubstr("t.csv:2: the record has more than"));
  EXPECT_EQ(refusal("a\n" + std::string(CsvRecords::kMostFields - 1, ',')), "");
}

}  // namespace
}  // namespace podium
