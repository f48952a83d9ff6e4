// Against published figures, and against the worker's own count (tests/worker/nn/model_test.cc).
#include "common/model/flops.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

JobSpec bert_large(int length) {
  JobSpec spec;
  spec.model = {.family = ModelFamily::bert,
                .preset = "bert-large",
                .layers = 24,
                .hidden = 1024,
                .heads = 16,
                .intermediate = 4096,
                .vocab = 30522,
                .max_positions = 512};
  spec.training.sequence_length = length;
  return spec;
}

// 240.6 GFLOP a sequence of 128 tokens with 20 predictions, 1,020.5 of 512 with 80.
TEST(Flops, OfBertLargeAreThoseOfItsRecipe) {
  EXPECT_NEAR(training_flops_of_sequence(bert_large(128)).value(), 240.6e9, 0.1e9);
  EXPECT_NEAR(training_flops_of_sequence(bert_large(512)).value(), 1020.5e9, 0.1e9);
  EXPECT_EQ(default_predictions(1), 1);
}

// 72 B s l h^2 (1 + s / 6h + V / 12lh)
TEST(Flops, OfGptAreThePublishedFormula) {
  JobSpec spec;
  spec.model = {.family = ModelFamily::gpt,
                .preset = "",
                .layers = 72,
                .hidden = 3072,
                .heads = 32,
                .intermediate = 4 * 3072,
                .vocab = 51200,
                .max_positions = 1024};
  spec.training.sequence_length = 1024;
  const double l = 72, h = 3072, s = 1024, v = 51200;
  const double published = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(training_flops_of_sequence(spec).value(), published, 1e-9 * published);
}

// 6 operations a token and parameter of the matrices (Kaplan et al. 2020), and 12 l h s of attention's
// products, which groups of heads do not make fewer.
TEST(Flops, OfLlamaAreThoseOfItsMatrices) {
  JobSpec spec;
  spec.model = {.family = ModelFamily::llama,
                .preset = "llama3-8b",
                .layers = 32,
                .hidden = 4096,
                .heads = 32,
                .key_value_heads = 8,
                .intermediate = 14336,
                .vocab = 128256,
                .max_positions = 8192};
  spec.training.sequence_length = 8192;
  const double l = 32, h = 4096, s = 8192, norms = (2 * l + 1) * h, tokens_table = 128256 * h;
  const double matrices = 8'030'261'248 - norms - tokens_table;  // published, without what is only looked up
  const double expected = s * (6 * matrices + 12 * l * h * s);
  EXPECT_NEAR(training_flops_of_sequence(spec).value(), expected, 1e-12 * expected);
}

TEST(Flops, AreNotToldWhereTheSpecDoesNotFixThem) {
  JobSpec vocabulary = bert_large(128), lengths = vocabulary, phases = vocabulary, command = vocabulary;
  vocabulary.model.vocab = 0;
  lengths.training.unpadded = true;
  phases.training.phases.emplace_back();
  command.command = {"train"};
  for (const JobSpec& spec : {vocabulary, lengths, phases, command})
    EXPECT_EQ(training_flops_of_sequence(spec), std::nullopt);
}

}  // namespace
}  // namespace podium
