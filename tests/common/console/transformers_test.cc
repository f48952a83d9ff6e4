// Lines that people published of runs of Hugging Face's Trainer.
#include <gmock/gmock.h>

#include "common/console/named_parsers.h"
#include "tests/common/console/values_of.h"

namespace podium {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

class Transformers : public testing::Test {
 protected:
  ConsoleLine read(std::string_view line) { return parse_transformers(line, memory_); }

  ConsoleMemory memory_;
};

TEST_F(Transformers, ReadsALossAfterAProgressBar) {
  const ConsoleLine line = read(
      "{'loss': 1.2984, 'grad_norm': 1.0197371244430542, 'learning_rate': 8.298066550493735e-08, 'epoch': "
      "3.0}");
  EXPECT_EQ(line.step, 3000);  // thousandths of an epoch
  EXPECT_THAT(
      values_of(line),
      UnorderedElementsAre(Pair("train/loss", 1.2984), Pair("train/grad_norm", 1.0197371244430542),
                           Pair("train/learning_rate", 8.298066550493735e-08), Pair("train/epoch", 3)));
}

// As version 5 prints them.
TEST_F(Transformers, ReadsNumbersInQuotes) {
  const ConsoleLine line = read(
      "{'eval_loss': '9.86', 'eval_runtime': '4.061', 'eval_samples_per_second': '8.372', "
      "'eval_steps_per_second': '2.216', 'epoch': '1'}");
  EXPECT_EQ(line.step, 1000);
  EXPECT_EQ(values_of(line).at("eval/loss"), 9.86);
  EXPECT_EQ(values_of(line).at("eval/samples_per_second"), 8.372);
}

TEST_F(Transformers, ReadsAStepThatTheLineHas) {
  const ConsoleLine line = read(
      "{'eval_loss': 0.5854439735412598, 'eval_Accuracy': 0.7052631578947368, 'eval_Jensen-Shannon': "
      "0.04535189442373448, 'epoch': 1.0, 'step': 40}");
  EXPECT_EQ(line.step, 40);
  EXPECT_EQ(values_of(line).at("eval/Accuracy"), 0.7052631578947368);
  EXPECT_FALSE(values_of(line).contains("train/step"));
}

// The banner of the same program, by its logger.
TEST_F(Transformers, FindsTheStepByTheBanner) {
  for (const std::string_view line :
       {"06/12/2020 10:05:38 - INFO - transformers.trainer -   ***** Running training *****",
        "06/12/2020 10:05:38 - INFO - transformers.trainer -     Num examples = 3,668",
        "06/12/2020 10:05:38 - INFO - transformers.trainer -     Num Epochs = 3",
        "  Total train batch size (w. parallel, distributed & accumulation) = 32",
        "  Total optimization steps = 345"})
    EXPECT_TRUE(read(line).empty());
  EXPECT_EQ(memory_.steps, 345);
  EXPECT_EQ(read("{'loss': 0.5, 'epoch': 1.0}").step, 115);
  EXPECT_EQ(read("{'loss': 0.5, 'epoch': 2.61}").step, 300);
}

// With max_steps the epochs of the banner are rounded up.
// Each evaluation has a banner of its own.
TEST_F(Transformers, TakesNoBannerButThatOfTraining) {
  for (const std::string_view line :
       {"***** Running training *****", "  Num examples = 67,349", "  Num Epochs = 3",
        "  Total train batch size (w. parallel, distributed & accumulation) = 32",
        "  Total optimization steps = 6,315", "{'loss': 0.4, 'epoch': 1.0}", "***** Running Evaluation *****",
        "  Num examples = 872", "  Batch size = 8"})
    read(line);
  EXPECT_EQ(read("{'eval_loss': 0.3, 'epoch': 1.0}").step, 2105);
  EXPECT_EQ(read("{'loss': 0.2, 'epoch': 1.5}").step, 3158);
}

TEST_F(Transformers, FindsTheStepOfAPartOfAnEpochByItsExamples) {
  read("***** Running training *****");
  read("  Num examples = 100,000");
  read("  Num Epochs = 1");
  read("  Total train batch size (w. parallel, distributed & accumulation) = 100");
  read("  Total optimization steps = 50");
  EXPECT_EQ(read("{'loss': 0.5, 'epoch': 0.05}").step, 50);
}

TEST_F(Transformers, ReadsTheSummary) {
  const auto values = values_of(read(
      "{'train_runtime': 27172.2581, 'train_samples_per_second': 0.887, 'train_steps_per_second': 0.444, "
      "'train_loss': 0.9869333031899443, 'epoch': 3.0}                                            "));
  EXPECT_EQ(values.at("train/train_loss"), 0.9869333031899443);
  EXPECT_FALSE(values.contains("train/loss"));
}

TEST_F(Transformers, ReadsWhatIsNotANumber) {
  const auto values = values_of(read("{'loss': nan, 'grad_norm': inf, 'note': None, 'epoch': 0.1}"));
  EXPECT_TRUE(std::isnan(values.at("train/loss")));
  EXPECT_TRUE(std::isinf(values.at("train/grad_norm")));
  EXPECT_FALSE(values.contains("train/note"));
}

TEST_F(Transformers, PassesOverAllElse) {
  for (const std::string_view line :
       {"", "{", "{'", "{'loss'", "{'loss':", "{'loss': 1", "{'loss': 1,}", "{'loss' 1}", "{'a': 1}",
        "{'loss': [1, 2]}", "{'loss': {'epoch': 1}}", "{'loss': tensor(1.2, device='cuda:0')}",
        "{'ids': [1], 'loss': 1}", "{loss: 1}", "Num Epochs = many", " = "})
    EXPECT_TRUE(read(line).empty()) << line;
  EXPECT_EQ(memory_, ConsoleMemory{});
  EXPECT_TRUE(read("  Num Epochs = 3").empty());
  EXPECT_EQ(memory_, ConsoleMemory{}) << "not of a training";
  for (const std::string_view line : {"{'loss': 1.0, 'epoch': 1e300}", "{'loss': 1.0, 'epoch': -1}",
                                      "{'loss': 1.0, 'step': nan}", "{'loss': 1.0, 'step': 1e18}"})
    EXPECT_EQ(read(line).step, std::nullopt) << line;
}

}  // namespace
}  // namespace podium
