// Lines that people published of their runs of Megatron-LM and what prints as it does, with their sources.
#include <gmock/gmock.h>

#include "common/console/named_parsers.h"
#include "tests/common/console/values_of.h"

namespace podium {
namespace {

using testing::DoubleEq;
using testing::Pair;
using testing::UnorderedElementsAre;

class Megatron : public testing::Test {
 protected:
  ConsoleLine read(std::string_view line) { return parse_megatron(line, memory_); }

  ConsoleMemory memory_;
};

// epfLLM/Megatron-LLM, issue 11.
TEST_F(Megatron, ReadsAnIteration) {
  const ConsoleLine line = read(
      " iteration      122/  250000 | consumed samples:       124928 | elapsed time per iteration (ms): "
      "86545.2 | learning rate: 9.150E-06 | global batch size:  1024 | lm loss: 2.504220E+00 | loss scale: "
      "1.0 | grad norm: 0.231 | number of skipped iterations:   0 | number of nan iterations:   0 |");
  EXPECT_EQ(line.step, 122);
  EXPECT_EQ(memory_.steps, 250'000);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(
                  Pair("train/consumed_samples", 124928), Pair("train/seconds_per_step", DoubleEq(86.5452)),
                  Pair("train/learning_rate", 9.15e-6), Pair("train/global_batch_size", 1024),
                  Pair("train/loss", 2.50422), Pair("train/loss_scale", 1), Pair("train/grad_norm", 0.231),
                  Pair("train/skipped_iterations", 0), Pair("train/nan_iterations", 0),
                  Pair("train/sequences_per_second", DoubleEq(1024 / 86.5452))));
}

// The log of a run on 16 H100, with --log-throughput and a seconds' stamp before it.
TEST_F(Megatron, ReadsThroughputAndPassesOverWhatIsNoNumber) {
  const ConsoleLine line = read(
      " [2024-08-21 10:19:42] iteration        4/   25000 | consumed samples:         4096 | elapsed time "
      "per "
      "iteration (ms): 270125.4 | throughput per GPU (TFLOP/s/GPU): 449.6 | iteration time: 270.125 s "
      "samples/sec: 3.8 | learning rate: 7.500000E-08 | global batch size:  1024 | lm loss: 2.120380E+00 | "
      "loss scale: 1.0 | grad norm: 14.218 | number of skipped iterations:   0 | number of nan iterations:   "
      "0 |");
  EXPECT_EQ(line.step, 4);
  const auto values = values_of(line);
  EXPECT_DOUBLE_EQ(values.at("train/tflops_per_device"), 449.6);
  EXPECT_EQ(values.size(), 11U);
}

// The values of this iteration and their means so far, as AMD's Primus prints them.
TEST_F(Megatron, TakesTheFirstOfTwoNumbers) {
  const ConsoleLine line = read(
      "[20251202 09:12:08][rank-7/8][INFO ] [--------trainer.py:2560] : iteration 126/ 5000 | consumed "
      "samples: 16128 | elapsed time per iteration (ms): 13372.8/13364.7 | hip mem "
      "usage/free/total/usage_ratio: 153.81GB/102.17GB/255.98GB/60.09% | throughput per GPU (TFLOP/s/GPU): "
      "567.6/568.0 | tokens per GPU (tokens/s/GPU): 9801.4/9807.3 | learning rate: 9.984820E-06 | global "
      "batch size: 128 | lm loss: 6.548988E-03 | loss scale: 1.0 | grad norm: 0.061 |");
  EXPECT_EQ(line.step, 126);
  const auto values = values_of(line);
  EXPECT_DOUBLE_EQ(values.at("train/seconds_per_step"), 13.3728);
  EXPECT_DOUBLE_EQ(values.at("train/tokens_per_gpu_tokens_s_gpu"), 9801.4);
  EXPECT_DOUBLE_EQ(values.at("train/loss"), 6.548988e-3);
}

// Megatron-DeepSpeed's with a broken fp16 start: no loss, and no time of day as a metric.
TEST_F(Megatron, ReadsAnIterationWithoutALoss) {
  const ConsoleLine line = read(
      "      iteration        2/   30000 | current time: 1706860208.78 | consumed samples:           32 | "
      "elapsed time per iteration (ms): 429.4 | learning rate: 0.000E+00 | global batch size:    16 | loss "
      "scale: 2147483648.0 | number of skipped iterations:   1 | number of nan iterations:   0 |");
  const auto values = values_of(line);
  EXPECT_FALSE(values.contains("train/loss"));
  EXPECT_FALSE(values.contains("train/current_time"));
  EXPECT_EQ(values.at("train/skipped_iterations"), 1);
}

TEST_F(Megatron, ARateNeedsTheBatchAndTheTime) {
  for (const std::string_view field : {"elapsed time per iteration (ms): 5.0", "global batch size: 16"})
    EXPECT_EQ(read("iteration 9/ 100 | " + std::string(field) + " |").values.size(), 1U) << field;
}

TEST_F(Megatron, ReadsALossThatIsNotANumber) {
  const auto values = values_of(read(" iteration        9/     100 | lm loss: NaN | grad norm: inf |"));
  EXPECT_TRUE(std::isnan(values.at("train/loss")));
  EXPECT_TRUE(std::isinf(values.at("train/grad_norm")));
}

// The log of NVIDIA's Transformer Engine's convergence runs.
TEST_F(Megatron, ReadsAnEvaluation) {
  const ConsoleLine line = read(
      " validation loss at iteration 10 on validation set | lm loss value: 9.647480E+00 | lm loss PPL: "
      "1.548272E+04 |");
  EXPECT_EQ(line.step, 10);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(Pair("eval/loss", 9.64748), Pair("eval/perplexity", 15482.72)));
}

// MaskLLM's, which has a second loss.
TEST_F(Megatron, ReadsEveryLossOfAnEvaluation) {
  EXPECT_THAT(values_of(read("validation loss at iteration 100 | lm loss value: 1.255308E+01 | lm loss PPL: "
                             "2.829645E+05 | reg loss value: 7.631986E+03 | reg loss PPL: 4.851652E+08 |")),
              UnorderedElementsAre(Pair("eval/loss", 12.55308), Pair("eval/perplexity", 282964.5),
                                   Pair("eval/reg_loss", 7631.986), Pair("eval/reg_perplexity", 4.851652e8)));
}

// GPT-NeoX's.
TEST_F(Megatron, ReadsUnderscores) {
  const ConsoleLine line = read(
      " samples/sec: 51.234 | iteration       10/      50 | elapsed time per iteration (ms): 9876.5 | "
      "learning "
      "rate: 6.0E-04 | approx flops per GPU: 150.3TFLOPS | lm_loss: 7.1E+00 | loss scale: 4096.0 |");
  EXPECT_EQ(line.step, 10);
  EXPECT_EQ(values_of(line).at("train/loss"), 7.1);
  const ConsoleLine held_out =
      read(" validation results at iteration 100 | lm_loss value: 6.9E+00 | lm_loss_ppl value: 9.9E+02 |");
  EXPECT_EQ(held_out.step, 100);
  EXPECT_THAT(values_of(held_out),
              UnorderedElementsAre(Pair("eval/loss", 6.9), Pair("eval/perplexity", 990)));
}

TEST_F(Megatron, GivesTheLastEvaluationTheLastIteration) {
  constexpr std::string_view kLast =
      " validation loss at the end of training for test data | lm loss value: 5.741563E+00 | lm loss PPL: "
      "3.115511E+02 | ";
  EXPECT_TRUE(read(kLast).empty());  // no iteration was ever told
  memory_.step = 5000;
  memory_.counts = false;
  const ConsoleLine line = read(kLast);
  EXPECT_EQ(line.step, 5000);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(Pair("test/loss", 5.741563), Pair("test/perplexity", 311.5511)));
}

TEST_F(Megatron, PassesOverAllElse) {
  for (const std::string_view line :
       {"", "iteration", "iteration 5", "iteration 5/10", "iteration x/10 | lm loss: 1 |",
        "iteration 5/-3 | lm loss: 1 |", "saving checkpoint at iteration    5000 to /workspace/a | b",
        "| iteration 5/10", "validation loss", "validation loss at iteration 3 | PPL | value: | : 3 |",
        "Evaluating iter 24/32"})
    EXPECT_TRUE(read(line).empty()) << line;
  EXPECT_EQ(memory_, ConsoleMemory{});
}

}  // namespace
}  // namespace podium
