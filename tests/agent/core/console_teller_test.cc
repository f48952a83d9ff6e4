#include "agent/core/console_teller.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr Time kNow{1'700'000'000'000ms};

ConsoleReader reader() {
  return ConsoleReader::make({"megatron", "transformers"}, {"loss (?P<loss>[0-9]+)", "at (?P<step>[0-9]+)"})
      .value();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Without the mark.
std::string said(const std::string& line) {
  json event = json::parse(line);
  event.erase("read");
  event.erase("t");
  return event.dump();
}

std::vector<std::string> all_said(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string& line : lines_of(text)) all.push_back(said(line));
  return all;
}

// A file of output, and the teller that reads it.
struct Output {
  std::string text;
  void print(const std::string& line) { text += line + "\n"; }
  void read(ConsoleTeller& teller, Time now = kNow) const {
    for (auto at = static_cast<std::size_t>(teller.at(StreamKind::out)); at < text.size();) {
      const std::size_t end = text.find('\n', at);
      teller.read(StreamKind::out, std::string_view(text).substr(at, end - at),
                  static_cast<std::int64_t>(end) + 1, now);
      at = end + 1;
    }
  }
};

TEST(ConsoleTeller, WritesEventsWithTheirMarks) {
  ConsoleTeller teller(reader(), {});
  teller.read(StreamKind::err, "words", 6, kNow);
  EXPECT_EQ(teller.text(), "");
  teller.read(StreamKind::out, "at 30: loss 7", 14, kNow);
  const json event = json::parse(teller.text());
  EXPECT_EQ(event["type"], "metrics");
  EXPECT_EQ(event["step"], 30);
  EXPECT_EQ(event["t"], 1'700'000'000'000);
  EXPECT_EQ(event["values"], (json{{"loss", 7.0}}));
  EXPECT_EQ(event["read"]["stdout"], 14);
  EXPECT_EQ(event["read"]["stderr"], 6);
  teller.written();
  EXPECT_EQ(teller.text(), "");
}

// Its form on disk, which agents of other versions read on from.
TEST(ConsoleTeller, WritesTheGoldenFileAndReadsIt) {
  const std::string golden = read_file(test::source_path("tests/golden/console.jsonl"));
  ConsoleTeller teller(reader(), {});
  teller.read(StreamKind::err, "***** Running training *****", 30, kNow);
  teller.read(StreamKind::err, "  Num examples = 40", 60, kNow);
  teller.read(StreamKind::out, "iteration 10/ 500 | lm loss: nan |", 30, kNow);
  teller.pass_over(StreamKind::err, 5000, kNow + 5ms);
  EXPECT_EQ(teller.text(), golden);
  ConsoleMark mark;
  mark.out = 30;
  mark.err = 5000;
  mark.started = mark.bounded = true;
  mark.memory.step = 10;
  mark.memory.steps = 500;
  mark.memory.counts = false;
  mark.memory.banner = true;
  mark.memory.examples = 40;
  EXPECT_EQ(mark_in(lines_of(golden).back()), mark);
}

TEST(ConsoleTeller, TellsOnceHowManyStepsThereAre) {
  ConsoleTeller teller(reader(), {});
  for (int step : {10, 20})
    teller.read(StreamKind::out, "iteration " + std::to_string(step) + "/ 500 | lm loss: 3 |", step, kNow);
  EXPECT_THAT(all_said(teller.text()),
              ElementsAre(R"({"step":10,"type":"metrics","values":{"train/loss":3.0}})",
                          R"({"step":10,"steps":500,"type":"started"})",
                          R"({"step":20,"type":"metrics","values":{"train/loss":3.0}})"));
}

// Killed after any line of what it wrote, an agent goes on as if it had not been.
TEST(ConsoleTeller, GoesOnAfterAnyOfItsLines) {
  Output output;
  output.print("***** Running training *****");
  output.print("  Num examples = 40");
  output.print("  Num Epochs = 4");
  output.print("  Total optimization steps = 40");
  for (int i = 1; i <= 20; ++i) {
    output.print("nothing " + std::to_string(i));
    output.print("{'loss': " + std::to_string(i) + ", 'epoch': " + std::to_string(i / 5.0) + "}");
    output.print("loss " + std::to_string(i));
    if (i % 3 == 0) output.print("at " + std::to_string(100 * i));
  }
  ConsoleTeller whole(reader(), {});
  output.read(whole);
  const std::vector<std::string> lines = lines_of(whole.text());
  ASSERT_EQ(lines.size(), 41U);
  const auto is_started = [](const std::string& line) {
    return line.find("\"started\"") != std::string::npos;
  };
  std::vector<std::string> metrics = all_said(whole.text());
  std::erase_if(metrics, is_started);
  for (std::size_t told = 0; told <= lines.size(); ++told) {
    std::string text;
    for (std::size_t i = 0; i < told; ++i) text += lines[i] + "\n";
    ConsoleTeller again(reader(), told == 0 ? ConsoleMark{} : mark_in(lines[told - 1]).value());
    output.read(again);
    auto all = all_said(text + again.text());
    EXPECT_EQ(std::ranges::count_if(all, is_started), 1) << "after " << told << " lines";
    std::erase_if(all, is_started);
    EXPECT_EQ(all, metrics) << "after " << told << " lines";
  }
}

TEST(ConsoleTeller, BoundsWhatIsToldAndSaysSoOnce) {
  Output output;
  for (int i = 1; i <= 50'000; ++i) output.print("loss " + std::to_string(i));
  ConsoleTeller teller(reader(), {});
  output.read(teller);
  EXPECT_EQ(lines_of(teller.text()).size(), 1001U);
  EXPECT_THAT(lines_of(teller.text())[1000], HasSubstr("more than 100 lines with metrics a second"));
  teller.written();
  teller.release(false, kNow);
  EXPECT_EQ(teller.text(), "");
  teller.release(false, kNow + 10ms);
  EXPECT_THAT(all_said(teller.text()),
              ElementsAre(R"({"step":50000,"type":"metrics","values":{"loss":50000.0}})"));

  ConsoleTeller again(reader(), mark_in(lines_of(teller.text()).back()).value());
  for (int i = 1; i <= 2000; ++i) output.print("loss 1");
  output.read(again);
  again.release(true, kNow);
  EXPECT_EQ(lines_of(again.text()).size(), 1001U);
  EXPECT_EQ(again.text().find("note"), std::string::npos) << "it has been told";
  EXPECT_THAT(lines_of(again.text()).back(), HasSubstr(R"("step":52000)"));
}

TEST(ConsoleTeller, TellsAHundredLinesASecondForEver) {
  ConsoleTeller teller(reader(), {});
  std::int64_t end = 0;
  for (int i = 0; i < 60'000; ++i) {  // 1,000 a second
    teller.read(StreamKind::out, "loss 1", ++end, kNow + i * 1ms);
    if (i == 29'999) teller.written();
  }
  const auto told = lines_of(teller.text()).size();
  EXPECT_GE(told, 2990U);
  EXPECT_LE(told, 3010U);
}

// The note says nothing of a line that is held back, for a line may be lost where it does.
TEST(ConsoleTeller, MarksNoLineThatItHoldsBack) {
  Output output;
  for (int i = 1; i <= 1002; ++i) output.print("loss " + std::to_string(i));
  ConsoleTeller teller(reader(), {});
  output.read(teller);
  const ConsoleMark mark = mark_in(lines_of(teller.text()).back()).value();
  EXPECT_EQ(mark.memory.step, 1001);
  ConsoleTeller again(reader(), mark);
  output.read(again);
  EXPECT_THAT(all_said(again.text()),
              ElementsAre(R"({"step":1002,"type":"metrics","values":{"loss":1002.0}})"));
}

TEST(ConsoleTeller, SaysThatOutputWasPassedOver) {
  ConsoleTeller teller(reader(), {});
  teller.pass_over(StreamKind::err, 1000, kNow);
  EXPECT_THAT(all_said(teller.text()), ElementsAre(HasSubstr("part of it was passed over")));
  EXPECT_EQ(mark_in(lines_of(teller.text())[0])->err, 1000);
}

TEST(ConsoleMark, IsInNoOtherLine) {
  for (const std::string_view line : {"", "{", "[]", "{}", R"({"read":1})", R"({"read":{"stdout":"x"}})"})
    EXPECT_EQ(mark_in(line), std::nullopt) << line;
}

class ConsoleReaderOf : public testing::Test {
 protected:
  ConsoleReaderOf() {
    launch_.spec.command = {"true"};
    launch_.spec.metrics = {{"megatron", "transformers", "lightning"}, {"loss (?P<loss>[0-9]+)"}};
  }

  // Which of a line of each are read.
  std::string read_by(int rank) {
    launch_.task.rank = rank;
    const auto reader = console_reader_of(launch_);
    std::string read;
    if (!reader) return "none";
    ConsoleMemory memory;
    if (!reader->read("iteration 1/2 | lm loss: 1 |", memory).empty()) read += "m";
    if (!reader->read("{'loss': 1, 'epoch': 1}", memory).empty()) read += "t";
    if (!reader->read("Epoch 0: 1/2 [0<1, 1it/s, a=4]", memory).empty()) read += "l";
    if (!reader->read("loss 1", memory).empty()) read += "r";
    return read;
  }

  Launch launch_;
};

TEST_F(ConsoleReaderOf, LetsRankZeroTellUnlessTheProgramChooses) {
  EXPECT_EQ(read_by(0), "mtlr");
  EXPECT_EQ(read_by(3), "ml");
  launch_.spec.processes = Processes::node;
  EXPECT_EQ(read_by(1), "mtlr") << "torchrun numbers the nodes itself";
  launch_.spec.processes = Processes::device;
  launch_.spec.metrics = {{"transformers"}, {}};
  EXPECT_EQ(read_by(1), "none");
  launch_.spec.metrics = {};
  EXPECT_EQ(read_by(0), "none");
}

}  // namespace
}  // namespace podium
