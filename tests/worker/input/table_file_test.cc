#include "worker/input/table_file.h"

#include <gmock/gmock.h>
#include <zlib.h>
#include <zstd.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Rows = std::vector<std::pair<std::int64_t, std::vector<std::string>>>;

class TableFile : public testing::Test {
 protected:
  Rows rows(const std::string& name, const std::string& content) {
    write_file_atomic(folder_.path() / name, content);
    Rows found;
    std::uint64_t told = 0;
    for_each_table_row(
        folder_.path() / name, form_,
        [&](const TableRow& row) {
          found.emplace_back(row.line, std::vector<std::string>(row.cells.begin(), row.cells.end()));
        },
        [&](std::uint64_t bytes) { told += bytes; });
    EXPECT_EQ(told, content.size()) << "every byte is told of";
    return found;
  }
  std::string refusal(const std::string& name, const std::string& content) {
    try {
      rows(name, content);
    } catch (const BadData& error) {
      EXPECT_THAT(error.what(), HasSubstr((folder_.path() / name).string()));
      return error.what();
    }
    return "";
  }

  const TempFolder folder_;
  TableForm form_{true, {{"text"}, {"kind"}}};
};

TEST_F(TableFile, CellsOfTabsAreTakenAsTheyAre) {
  EXPECT_THAT(rows("t.tsv", "kind\tn\ttext\r\nx\t1\ta \"b, c\r\n\n\t2\t \n"),
              ElementsAre(Pair(2, ElementsAre("a \"b, c", "x")), Pair(4, ElementsAre(" ", ""))));
}

TEST_F(TableFile, WithoutAHeaderColumnsGoByNumber) {
  form_ = {false, {{"", 3}, {"", 1}}};
  EXPECT_THAT(rows("t.txt", "x\t1\ta\n"), ElementsAre(Pair(1, ElementsAre("a", "x"))));
  EXPECT_THAT(rows("t.csv", "x,1,\"a,\nb\"\n"), ElementsAre(Pair(1, ElementsAre("a,\nb", "x"))));
  EXPECT_THAT(refusal("t.tsv", "x\ty\n"), HasSubstr("t.tsv:1: has 2 columns and none of number 3"));
  form_.header = true;
  EXPECT_THAT(rows("t.tsv", "p\tq\tr\nx\t1\ta\n"), ElementsAre(Pair(2, ElementsAre("a", "x"))));
}

TEST_F(TableFile, EndingsSayTheForm) {
  const Rows expected{{2, {"a,b", "x"}}};
  EXPECT_EQ(rows("t.csv", "text,kind\n\"a,b\",x\n"), expected);
  EXPECT_EQ(rows("t.jsonl", "\n{\"kind\": \"x\", \"n\": [1], \"text\": \"a,b\"}\n"), expected);
  EXPECT_EQ(rows("t", "text\tkind\na,b\tx"), expected);
}

TEST_F(TableFile, PackedOnesAreReadAsWhatTheyHold) {
  const std::string plain = "text,kind\n\"a,b\",x\n";
  std::string gz(1000, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(gz.data());
  stream.avail_out = static_cast<uInt>(gz.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  gz.resize(stream.total_out);
  deflateEnd(&stream);
  std::string zst(1000, '\0');
  zst.resize(ZSTD_compress(zst.data(), zst.size(), plain.data(), plain.size(), 3));
  const Rows expected{{2, {"a,b", "x"}}};
  EXPECT_EQ(rows("t.csv.gz", gz), expected);
  EXPECT_EQ(rows("t.csv.zst", zst), expected);
  EXPECT_THAT(refusal("u.csv.gz", gz.substr(0, gz.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(refusal("u.csv.zst", plain), HasSubstr("damaged"));
}

TEST_F(TableFile, AByteOrderMarkIsNoPartOfTheFirstName) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_THAT(rows("t.tsv", mark + "text\tkind\na\tx\n"), ElementsAre(Pair(2, ElementsAre("a", "x"))));
  EXPECT_THAT(rows("t.csv", mark + "\"text\",kind\na,x\n"), ElementsAre(Pair(2, ElementsAre("a", "x"))));
  EXPECT_THAT(rows("t.jsonl", mark + "{\"text\": 1, \"kind\": 2}"),
              ElementsAre(Pair(1, ElementsAre("1", "2"))));
  EXPECT_THAT(rows("u.tsv", mark), IsEmpty());
}

TEST_F(TableFile, MembersAreTextNumbersAndTruth) {
  EXPECT_THAT(rows("t.jsonl", "{\"text\": \"caf\\u00e9\", \"kind\": 3.5}\n{\"kind\": true, \"text\": -7}\n"),
              ElementsAre(Pair(1, ElementsAre("café", "3.5")), Pair(2, ElementsAre("-7", "true"))));
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": \"a\"}\n"), HasSubstr(":1: has no member \"kind\""));
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": \"a\", \"kind\": null}\n"),
              HasSubstr(":1: has no member \"kind\""));
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": \"a\", \"kind\": [1]}\n"),
              HasSubstr(":1: has a list or an object"));
  EXPECT_THAT(refusal("t.jsonl", R"({"text": "a", "kind": {"text": 1, "text": 2}, "text": "b"})"),
              HasSubstr(":1: has two members \"text\""));
  EXPECT_THAT(refusal("t.jsonl", "\n[1]\n"), HasSubstr(":2: is no JSON object"));
  for (const char* number : {"18446744073709551616", "-9223372036854775809", "1e300"})
    EXPECT_THAT(refusal("t.jsonl", std::string("{\"text\": \"a\", \"kind\": ") + number + "}\n"),
                HasSubstr(":1: has a number as \"kind\" that loses digits; put it in quotes"));
  EXPECT_THAT(rows("t.jsonl", "{\"text\": 18446744073709551615, \"kind\": 0.1}\n"),
              ElementsAre(Pair(1, ElementsAre("18446744073709551615", "0.1"))));
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": \"a\", \"kind\": \"x\"}\n{\"text\n"),
              HasSubstr(":2: is no JSON: "));
  EXPECT_THAT(refusal("t.jsonl", std::string(100000, '[')), HasSubstr(":1: is no JSON: "));
  form_.columns[1] = {"", 2};
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": 1}\n"), HasSubstr("column 2 has none"));
}

TEST_F(TableFile, WhatIsNoSuchTableIsRefusedWithItsLine) {
  EXPECT_THAT(
      refusal("t.tsv", "text\tlabel\n"),
      AllOf(HasSubstr(":1: names no column \"kind\", but text, label;"), HasSubstr("separated by tabs")));
  EXPECT_THAT(refusal("t.csv", "text\tkind\n"), HasSubstr("separated by commas"));
  EXPECT_THAT(refusal("t.tsv", "text\tkind\tkind\n"), HasSubstr(":1: names two columns \"kind\""));
  EXPECT_THAT(refusal("t.tsv", "text\tkind\na\tb\na\n"),
              HasSubstr(":3: has 1 columns, and the first line has 2"));
  EXPECT_THAT(refusal("t.csv", "text,kind\n\"a\n\",b\na,b,c\n"), HasSubstr(":4: has 3 columns"));
  EXPECT_THAT(refusal("t.tsv", "text\tkind\na\t\xff\n"), AllOf(HasSubstr(":2:"), HasSubstr("not UTF-8")));
  EXPECT_THAT(refusal("t.csv", "text,kind\na,\xe9\n"), AllOf(HasSubstr(":2:"), HasSubstr("not UTF-8")));
  EXPECT_THAT(refusal("t.jsonl", "{\"text\": \"\xe9\"}\n"), AllOf(HasSubstr(":1:"), HasSubstr("not UTF-8")));
  EXPECT_THAT(refusal("t.tsv", "text\tkind\n" + std::string(10000, '\t')), HasSubstr(":2: has more than"));
  form_.columns[1] = {"", 1};
  EXPECT_THAT(refusal("t.tsv", "text\tkind\n"),
              HasSubstr(":1: has one column of number 1, and it is asked for twice"));
  EXPECT_THROW(for_each_table_row(folder_.path() / "none.tsv", form_, [](const TableRow&) {}), BadData);
}

TEST_F(TableFile, LongOnesAreReadPartByPart) {
  std::string tsv = "text\tkind\n", csv = "text,kind\n";
  for (int i = 0; i < 200000; ++i) {
    tsv += "some words\t" + std::to_string(i) + "\n";
    csv += "\"some\nwords\"," + std::to_string(i) + "\n";
  }
  const Rows of_tsv = rows("t.tsv", tsv), of_csv = rows("t.csv", csv);
  ASSERT_EQ(of_tsv.size(), 200000U);
  ASSERT_EQ(of_csv.size(), 200000U);
  EXPECT_EQ(of_tsv.back(), (Rows::value_type{200001, {"some words", "199999"}}));
  EXPECT_EQ(of_csv.back(), (Rows::value_type{400000, {"some\nwords", "199999"}}));
}

}  // namespace
}  // namespace podium
