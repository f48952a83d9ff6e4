// podium-worker tokenize: what it prints, and how it fails.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TokenizeCommand : public testing::Test {
 protected:
  TokenizeCommand() { write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##want\n##ed\na\né\n"); }

  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
  }
  // Runs it in the folder, with "text" on standard input.
  int tokenize(const std::string& arguments, const std::string& text) {
    write("in", text);
    Child child({"/bin/sh", "-c",
                 "cd " + folder_.path().string() + " && \"$0\" tokenize " + arguments + " < in > out 2> log",
                 test::program_path("podium-worker")},
                folder_.path() / "shell");
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string printed() const { return read_file(folder_.path() / "out"); }
  std::string said() const { return read_file(folder_.path() / "log"); }

  TempFolder folder_;
};

TEST_F(TokenizeCommand, PrintsALineOfIdsForEachLine) {
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt", "UNwanted a[MASK]\n\n\nÉ"), 0) << said();
  EXPECT_EQ(printed(), "[5,6,7,8,4]\n[]\n[]\n[1]\n");
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt --cased", "Un\na é\r\n"), 0) << said();
  EXPECT_EQ(printed(), "[1]\n[8,9]\n");
  EXPECT_EQ(tokenize("--tokenizer . --offsets", "é unwanted\n"), 0) << said();
  EXPECT_EQ(printed(), R"({"ids":[1,5,6,7],"offsets":[[0,1],[2,4],[4,8],[8,10]]})"
                       "\n");
}

TEST_F(TokenizeCommand, ReadsFilesAndObjects) {
  write("one", "a\nun");
  write("two", "a a\n");
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt one two", ""), 0) << said();
  EXPECT_EQ(printed(), "[8]\n[5]\n[8,8]\n");
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt --jsonl",
                     "{\"id\": 1, \"text\": \"a\\n\\u00e9\"}\n{\"text\": \"\"}\n"),
            0);
  EXPECT_EQ(printed(), "[8,1]\n[]\n");
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt --jsonl", "{\"text\": \"a\"}\n\n \t\n{}\n"), 65);
  EXPECT_EQ(printed(), "[8]\n") << "blank lines are passed over";
  EXPECT_THAT(said(), HasSubstr("standard input:4: "));
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt one - two", "un\n"), 0) << said();
  EXPECT_EQ(printed(), "[8]\n[5]\n[5]\n[8,8]\n");
}

TEST_F(TokenizeCommand, NamesTheLineThatIsBad) {
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt", "a\na\xFF\na\n"), 65);
  EXPECT_THAT(said(), HasSubstr("standard input:2: byte 2 of the line is not UTF-8"));
  EXPECT_EQ(printed(), "[8]\n") << "what was good before it";
  EXPECT_EQ(tokenize("--tokenizer wordpiece:vocab.txt missing.txt", ""), 65);
  EXPECT_THAT(said(), HasSubstr("missing.txt"));
  for (const char* line : {"{\"text\": 7}", "[\"a\"]", "{}", "{\"text\": ", "{\"text\": \"\\ud800\"}",
                           "{\"text\": \"a\", \"n\": 1e999}"}) {
    EXPECT_EQ(
        tokenize("--tokenizer wordpiece:vocab.txt --jsonl", std::string("{\"text\":\"a\"}\n") + line + "\n"),
        65);
    EXPECT_THAT(said(), HasSubstr("standard input:2: ")) << line;
    EXPECT_EQ(printed(), "[8]\n") << line;
  }
}

// A program that writes a line and waits for its ids before it writes the next.
TEST_F(TokenizeCommand, AnswersALineBeforeItWaitsForTheNext) {
  write("talk.sh", R"(mkfifo questions answers
"$0" tokenize --tokenizer wordpiece:vocab.txt < questions > answers &
exec 3> questions 4< answers
for line in a un; do
  echo $line >&3
  read -r ids <&4 && echo "$ids"
done > out
exec 3>&-
wait)");
  Child child({"/bin/sh", "-c", "cd " + folder_.path().string() + " && . ./talk.sh",
               test::program_path("podium-worker")},
              folder_.path() / "shell");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(printed(), "[8]\n[5]\n");
}

TEST_F(TokenizeCommand, SaysWhatIsWrongWithTheTokenizer) {
  write("twice.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nx\nx\n");
  EXPECT_EQ(tokenize("--tokenizer wordpiece:twice.txt", ""), 65);
  EXPECT_THAT(said(), HasSubstr("twice.txt:7: the token \"x\" appears a second time"));
  EXPECT_EQ(tokenize("--tokenizer vocab.txt", ""), 65);
  EXPECT_THAT(said(), HasSubstr("wordpiece:vocab.txt, bpe:vocab.json,merges.txt or a folder"));
  EXPECT_EQ(tokenize("--tokenizer . --cased", ""), 64);
  EXPECT_EQ(tokenize("", ""), 64);
  EXPECT_EQ(tokenize("--help", ""), 0);
  EXPECT_THAT(printed(), AllOf(HasSubstr("--offsets"), HasSubstr("[begin, end)")));
}

}  // namespace
}  // namespace podium
