#include "common/console/console_reader.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/common/console/values_of.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

ConsoleReader reader(const std::vector<std::string>& parsers, const std::vector<std::string>& regex) {
  auto made = ConsoleReader::make(parsers, regex);
  EXPECT_TRUE(made.ok()) << describe(made.errors());
  return std::move(made).value();
}

TEST(ConsoleReader, AddsUpWhatAllSayOfALine) {
  ConsoleMemory memory;
  const ConsoleLine line = reader({"transformers"}, {"'epoch': (?P<age>[0-9.]+)", "s=(?P<step>[0-9]+)"})
                               .read("{'loss': 0.5, 'epoch': 2.0} s=7", memory);
  EXPECT_EQ(line.step, 7);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(Pair("train/loss", 0.5), Pair("train/epoch", 2), Pair("age", 2)));
}

TEST(ConsoleReader, CountsLinesUntilAStepIsTold) {
  const ConsoleReader of = reader({}, {"loss (?P<loss>[0-9]+)", "^step (?P<step>[0-9]+)$"});
  ConsoleMemory memory;
  EXPECT_EQ(of.read("loss 9", memory).step, 1);
  EXPECT_EQ(of.read("words", memory).step, std::nullopt);
  EXPECT_EQ(of.read("loss 8", memory).step, 2);
  EXPECT_TRUE(of.read("step 40", memory).empty());
  EXPECT_EQ(of.read("loss 7", memory).step, 40);
  EXPECT_EQ(of.read("loss 6", memory).step, 40);
}

TEST(ConsoleReader, GoesOnFromItsMemory) {
  const ConsoleReader of = reader({"megatron", "transformers", "lightning"}, {});
  ConsoleMemory memory;
  for (const std::string_view line :
       {"***** Running training *****", "  Num examples = 100", "  Num Epochs = 2",
        "  Total optimization steps = 200", " iteration 7/ 200 | lm loss: 3 |",
        "Epoch 0: 1/2 [0<1, 1it/s, loss=4]"})
    of.read(line, memory);
  ConsoleMemory again = console_memory_from_json(nlohmann::json::parse(to_json(memory).dump()));
  EXPECT_EQ(again, memory);
  for (ConsoleMemory* one : {&memory, &again}) {
    EXPECT_EQ(of.read("{'loss': 1.0, 'epoch': 0.5}", *one).step, 50);
    EXPECT_TRUE(of.read("Epoch 0: 1/2 [0<1, 2it/s, loss=4]", *one).empty());
  }
}

TEST(ConsoleReader, NamesEveryMistake) {
  const auto made = ConsoleReader::make({"megatron", "keras"}, {"(?P<a>x)", "("});
  ASSERT_FALSE(made.ok());
  ASSERT_EQ(made.errors().size(), 2U);
  EXPECT_EQ(made.errors()[0].where, "/parsers/1");
  EXPECT_EQ(made.errors()[0].message,
            "there is no parser \"keras\"; there are megatron, transformers, lightning");
  EXPECT_EQ(made.errors()[1].where, "/regex/1");
}

TEST(ConsoleNumber, IsWhatProgramsPrint) {
  EXPECT_EQ(console_number(" 2.5E+00 "), 2.5);
  EXPECT_EQ(console_number("+1,234.5"), 1234.5);
  EXPECT_EQ(console_number("-1,234,567"), -1234567);
  for (const std::string_view text : {"", " ", "1.2.3", "12ms", "0x10", "1 2", "--1", "+-5", "0,57", "1,2",
                                      ",123", "1234,567", "1,23,456", "0.123,456", "1,2345"})
    EXPECT_EQ(console_number(text), std::nullopt) << text;
  EXPECT_EQ(console_number(std::string(65, '1')), std::nullopt);
  EXPECT_EQ(console_count(" 1,234 "), 1234);
  EXPECT_EQ(console_number(std::string(63, '0') + "1"), 1);
  EXPECT_EQ(console_count(std::string(63, '0') + "1"), 1);
  EXPECT_EQ(console_count(std::string(64, '0') + "1"), std::nullopt);
  EXPECT_EQ(console_count("9007199254740992"), 9007199254740992);
  for (const std::string_view text : {"", "-1", "1.0", "9007199254740993", "9223372036854775807", "0,5"})
    EXPECT_EQ(console_count(text), std::nullopt) << text;
}

TEST(ConsoleReader, SeesThroughColours) {
  ConsoleMemory memory;
  const ConsoleLine line =
      reader({}, {"^loss (?P<loss>[0-9.]+)$"}).read("\x1b[1;32mloss \x1b[0m0.5\x1b[K\x1b", memory);
  EXPECT_THAT(values_of(line), UnorderedElementsAre(Pair("loss", 0.5)));
  EXPECT_TRUE(reader({"transformers"}, {}).read("{'lo\x01ss_loss': 1}", memory).empty());
}

TEST(ConsoleReader, BoundsTheValuesOfALine) {
  std::string bar = "Epoch 0: 1/2 [0<1, 1it/s";
  for (int i = 0; i < 500; ++i) bar += ", a" + std::to_string(i) + "=1";
  ConsoleMemory memory;
  EXPECT_EQ(reader({"lightning"}, {}).read(bar + "]", memory).values.size(), kMostConsoleValues);
}

TEST(ConsoleMemory, IsReadFromWhatAnotherVersionWrote) {
  const ConsoleMemory memory = console_memory_from_json({{"step", 7}, {"of_the_future", {1, 2}}});
  EXPECT_EQ(memory.step, 7);
  EXPECT_TRUE(memory.counts);
}

// Any bytes at all, most of them near what the parsers look for.
TEST(ConsoleReader, TakesAnyLine) {
  const ConsoleReader of = reader({"megatron", "transformers", "lightning"}, {"(?P<a>.*)=(?P<b>.*)"});
  const std::vector<std::string> parts{
      "iteration ", "1/2 |", "|", ": ", "validation loss", " PPL", " value", "{'",  "'", "}",   "loss",
      "Epoch ",     " [",    "]", "/",  "99999",           ",",    "epoch'", "nan", "=", "\xff"};
  std::mt19937 random(7);
  ConsoleMemory memory;
  for (int i = 0; i < 20'000; ++i) {
    std::string line;
    for (unsigned count = random() % 12; count > 0; --count) line += parts[random() % parts.size()];
    const ConsoleLine told = of.read(line, memory);
    EXPECT_EQ(told.step.has_value(), !told.values.empty());
  }
}

}  // namespace
}  // namespace podium
