#include "worker/prepare/document_reader.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "tests/temp_folder.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DocumentReaderTest : public testing::Test {
 protected:
  std::vector<std::filesystem::path> write(const std::vector<std::string>& texts) {
    std::vector<std::filesystem::path> files;
    for (const std::string& text : texts) {
      files.push_back(folder_.path() / std::to_string(files.size()));
      std::ofstream(files.back(), std::ios::binary) << text;
    }
    return files;
  }

  struct Read {
    std::vector<std::string> documents;  // with what separates them
    std::vector<std::string> places;     // file:line of each batch
    std::vector<TextPosition> ends;
    std::vector<std::string> skips;
  };
  static Read read(const std::vector<std::filesystem::path>& files, DocumentForm form,
                   TextPosition begin = {}) {
    Read all;
    const std::atomic<bool> stop{false};
    DocumentReader reader(files, form, begin, stop);
    while (const auto batch = reader.next()) {
      all.places.push_back(std::to_string(batch->begin.file) + ":" + std::to_string(batch->begin.line));
      all.ends.push_back(batch->end);
      for (std::string_view rest = batch->text; !rest.empty();) {
        const std::size_t end = std::min(rest.size(), document_end(rest, form));
        all.documents.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end);
      }
      for (const Skip& skip : batch->skips)
        all.skips.push_back(std::to_string(skip.file) + ":" + std::to_string(skip.line) + ": " + skip.detail);
    }
    return all;
  }

  TempFolder folder_;
};

TEST_F(DocumentReaderTest, CutsWhereTheFormSays) {
  const auto files = write({"a\nb\n \t\nc\r\n\r\nd", "", "e\n"});
  EXPECT_THAT(read(files, DocumentForm::blank_lines).documents,
              ElementsAre("a\nb\n \t\n", "c\r\n\r\n", "d", "e\n"));
  EXPECT_THAT(read(files, DocumentForm::lines).documents,
              ElementsAre("a\n", "b\n", " \t\n", "c\r\n", "\r\n", "d", "e\n"));
  EXPECT_THAT(read(write({"a<|endoftext|>\n<|endoftext|>b<|endof"}), DocumentForm::end_of_text).documents,
              ElementsAre("a<|endoftext|>", "\n<|endoftext|>", "b<|endof"));
}

std::string random_text(std::size_t bytes, DocumentForm form, std::uint64_t seed) {
  Random random(seed, 0);
  std::string text;
  while (text.size() < bytes) {
    text.append(random.below(3000), 'x');
    text += random.below(3) == 0 ? (form == DocumentForm::end_of_text ? "<|endoftext|>" : "\n \n") : "\n";
  }
  return text;
}

TEST_F(DocumentReaderTest, AnyBatchesEndIsAPlaceToBegin) {
  for (const DocumentForm form :
       {DocumentForm::blank_lines, DocumentForm::lines, DocumentForm::end_of_text}) {
    const std::string text = random_text(5'000'000, form, 3);
    const auto files = write({text, random_text(1'500'000, form, 4)});
    const Read whole = read(files, form);
    ASSERT_GT(whole.ends.size(), 5u);
    for (const TextPosition& end : whole.ends) {
      const Read rest = read(files, form, end);
      const std::size_t before = whole.documents.size() - rest.documents.size();
      EXPECT_TRUE(std::equal(rest.documents.begin(), rest.documents.end(),
                             whole.documents.begin() + static_cast<std::ptrdiff_t>(before)));
      if (end.file == 0) {
        EXPECT_EQ(end.line,
                  1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end.byte), '\n'));
      }
    }
  }
}

TEST_F(DocumentReaderTest, ADocumentThatIsTooLongIsLeftOutAndTheNextOneFound) {
  std::string huge;
  while (huge.size() < kLongestDocument + 5'000'000) huge += std::string(999, 'x') + "\n";
  const Read blank = read(write({"a\n\n" + huge + "\nb\n\n" + huge}), DocumentForm::blank_lines);
  EXPECT_THAT(blank.documents, ElementsAre("a\n\n", "b\n\n"));
  const auto lines = std::count(huge.begin(), huge.end(), '\n');
  EXPECT_THAT(blank.skips, ElementsAre(HasSubstr("0:3: the document is longer than 64 MiB"),
                                       HasSubstr("0:" + std::to_string(3 + lines + 3) + ": the document")));
  const std::string line(kLongestDocument + 3'000'000, ' ');
  EXPECT_THAT(read(write({line + "x" + line + "\nb"}), DocumentForm::lines).documents, ElementsAre("b"));
  EXPECT_THAT(read(write({line + "x" + line + "\nb\n\nc"}), DocumentForm::blank_lines).documents,
              ElementsAre("c"));
  EXPECT_THAT(read(write({line + "<|endoftext|>b"}), DocumentForm::end_of_text).documents, ElementsAre("b"));
  const Read ended = read(write({huge + "<|endoftext|>\n<|endoftext|>" + huge}), DocumentForm::end_of_text);
  EXPECT_THAT(ended.documents, ElementsAre("\n<|endoftext|>"));
  EXPECT_THAT(ended.skips,
              ElementsAre(HasSubstr("0:1: "), HasSubstr("0:" + std::to_string(lines + 2) + ": ")));
}

TEST_F(DocumentReaderTest, DamageBehindADocumentThatIsTooLongBringsNoneOfItBack) {
  std::string huge;
  while (huge.size() < kLongestDocument + 5'000'000) huge += std::string(999, 'x') + "\n";
  const std::string lines = std::to_string(std::count(huge.begin(), huge.end(), '\n'));
  const auto cut_off = [&](const std::string& text) {
    const auto file = folder_.path() / "cut.gz";
    gzFile out = gzopen(file.c_str(), "wb1");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8);  // all text is there
    return read({file}, DocumentForm::blank_lines);
  };
  const Read inside = cut_off("a\n\n" + huge);
  EXPECT_THAT(inside.documents, ElementsAre("a\n\n"));
  EXPECT_THAT(inside.skips, ElementsAre(HasSubstr("0:3: the document is longer"), HasSubstr("is cut off")));
  const Read behind = cut_off(huge + "\nb\n\nc");
  EXPECT_THAT(behind.documents, ElementsAre("b\n\n"));
  EXPECT_THAT(behind.skips, ElementsAre(HasSubstr("0:1: the document is longer"), HasSubstr("is cut off")));
}

}  // namespace
}  // namespace podium
