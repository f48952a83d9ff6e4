#include "agent/process/console_tail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agent/process/file_tail.h"
#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

class ConsoleTailTest : public testing::Test {
 protected:
  ConsoleTailTest() : folder_(home_.path(), {{{1}, 1}, 0}) {
    std::filesystem::create_directories(folder_.path());
    open();
  }

  void open() {
    tail_.emplace(folder_, ConsoleReader::make({"transformers"}, {"loss (?P<loss>[0-9]+)"}).value());
  }
  void print(const std::string& text, StreamKind stream = StreamKind::out) {
    std::ofstream(folder_.stream_path(stream), std::ios::app) << text;
  }
  // Reads all there is.
  void look(bool ended = false) {
    while (!tail_->look(ended, now_, 10s)) {
    }
  }
  std::string file() const {
    const auto path = folder_.stream_path(StreamKind::console);
    return std::filesystem::exists(path) ? read_file(path) : "";
  }
  std::vector<double> told(const std::string& key = "loss") const {
    std::vector<double> values;
    std::istringstream lines(file());
    for (std::string line; std::getline(lines, line);)
      if (const json event = json::parse(line); event["type"] == "metrics")
        values.push_back(event["values"][key]);
    return values;
  }
  int notes() const {
    int notes = 0;
    for (std::size_t at = 0; (at = file().find("\"note\"", at)) != std::string::npos; ++at) ++notes;
    return notes;
  }

  const TempFolder home_;
  const TaskFolder folder_;
  Time now_{1'700'000'000'000ms};
  std::optional<ConsoleTail> tail_;
};

TEST_F(ConsoleTailTest, ReadsLinesAsTheyAreEnded) {
  look();
  EXPECT_EQ(file(), "");
  print("loss 1\nlo");
  look();
  print("ss 2\r\nloss 3");
  look();
  EXPECT_THAT(told(), ElementsAre(1, 2));
  look(true);
  EXPECT_THAT(told(), ElementsAre(1, 2, 3));
  look(true);
  EXPECT_THAT(told(), ElementsAre(1, 2, 3));
}

TEST_F(ConsoleTailTest, ReadsProgressBarsThatAreDrawnOver) {
  print("\rloss 1\rloss 2\nloss 3\rlo");
  look();
  EXPECT_THAT(told(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(tail_->look(false, now_, 10s));
}

// Neither a line's end nor a number in it is told where the line is cut.
TEST_F(ConsoleTailTest, TellsNothingOfAWordThatIsCut) {
  print(std::string(kLongestConsoleLine - 10, 'x') + " loss 123456789\n");
  look();
  EXPECT_THAT(told(), ElementsAre());
}

TEST_F(ConsoleTailTest, AnotherAgentTellsNothingOfTheRestOfALine) {
  print("loss 1 " + std::string(100'000, 'x'));
  look();
  EXPECT_THAT(told(), ElementsAre(1));
  open();
  print(" loss 2\nloss 3\n");
  look();
  EXPECT_THAT(told(), ElementsAre(1, 3));
}

// At whatever byte an agent is killed in its writing, the next tells the rest.
TEST_F(ConsoleTailTest, AnotherAgentGoesOn) {
  print("loss 1\nwords\nloss 2\nloss 3\n");
  look();
  print("loss 4\nloss 5\n");
  const std::string whole = file();
  for (std::size_t cut = 0; cut <= whole.size(); cut += 5) {
    std::ofstream(folder_.stream_path(StreamKind::console)) << whole.substr(0, cut);
    open();
    look();
    EXPECT_THAT(told(), ElementsAre(1, 2, 3, 4, 5)) << "cut at " << cut;
  }
}

// As the agents before this one could not.
TEST_F(ConsoleTailTest, WhatAProgramWroteIntoItsFileTellsNothingTwice) {
  print("loss 1\nloss 2\n");
  std::ofstream(folder_.stream_path(StreamKind::console)) << "{\"type\":\"metrics\"}\n";
  open();
  print("loss 3\n");
  look();
  EXPECT_THAT(file(), HasSubstr("3.0"));
  EXPECT_EQ(file().find("1.0"), std::string::npos);
}

TEST_F(ConsoleTailTest, ReadsTheBannerBeforeTheNumbersItIsOf) {
  print("{'loss': 7, 'epoch': 1.0}\n");
  print("***** Running training *****\n  Num Epochs = 2\n  Total optimization steps = 100\n",
        StreamKind::err);
  look();
  EXPECT_THAT(file(), HasSubstr(R"("step":50)"));
}

TEST_F(ConsoleTailTest, CutsLongLines) {
  print("loss 1 " + std::string(200'000, 'x') + " loss 2\nloss 3\n" + std::string(20'000, 'y') +
        " loss 4\nloss 5 " + std::string(100'000, 'z'));
  look();
  EXPECT_THAT(told(), ElementsAre(1, 3, 5));
  print(" loss 6\nloss 7\n");
  look(true);
  EXPECT_THAT(told(), ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(notes(), 0);
}

TEST_F(ConsoleTailTest, PassesOverWhatIsTooFarBehind) {
  std::string flood;
  while (std::ssize(flood) <= kConsoleMostBehind) flood += "no metric here, and more of them\n";
  print("loss 1\n");
  look();
  print(flood + "loss 2\n");
  look();
  EXPECT_THAT(told(), ElementsAre(1, 2));
  EXPECT_EQ(notes(), 1);
  print(flood + "loss 3\n");
  open();
  look(true);
  EXPECT_THAT(told(), ElementsAre(1, 2, 3));
  EXPECT_EQ(notes(), 1);
}

// The middle of long output is freed. A line that reaches into the hole is none.
TEST_F(ConsoleTailTest, PassesOverOutputThatIsGone) {
  std::string text = "loss 1\nloss 2\n";
  text.resize(4096 - 6, '.');
  text += "\nloss 77\n";  // of which a 7 remains
  text.resize(3 * 4096 - 4, '.');
  text += "loss 99\nloss 3\n";
  print(text);
  free_range(folder_.stream_path(StreamKind::out), 4096, 2 * 4096);
  print(std::string(8192, '.') + "\n");
  look();
  EXPECT_THAT(told(), ElementsAre(1, 2, 3));
  EXPECT_EQ(notes(), 1);
}

TEST_F(ConsoleTailTest, LooksForALimitedTime) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "some words\n";
  print(text + "loss 1\n");
  EXPECT_FALSE(tail_->look(true, now_, 0s));
  int looks = 0;
  while (!tail_->look(true, now_, 1us)) ++looks;
  EXPECT_GT(looks, 5);
  EXPECT_THAT(told(), ElementsAre(1));
}

// Output that never ends on one stream does not hide the other.
TEST_F(ConsoleTailTest, ReadsStdoutHoweverMuchGoesToStderr) {
  print(std::string(1 << 20, '\n'), StreamKind::err);
  print("loss 1\n");
  EXPECT_FALSE(tail_->look(false, now_, 1us));
  EXPECT_THAT(told(), ElementsAre(1));
}

TEST_F(ConsoleTailTest, WritesIntoNoPipeAndThroughNoLink) {
  const auto path = folder_.stream_path(StreamKind::console);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  print("loss 1\n");
  EXPECT_THROW(look(), std::system_error);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(home_.path() / "elsewhere", path);
  EXPECT_THROW(look(), std::system_error);
  EXPECT_FALSE(std::filesystem::exists(home_.path() / "elsewhere"));
  std::filesystem::remove(path);
  look();
  EXPECT_THAT(told(), ElementsAre(1)) << "what could not be written is not lost";
}

}  // namespace
}  // namespace podium
