// What a micro-batch gives to a model, and what it gets back. A head has one or more loss terms, which are
// numbered; the batch says for each what is to be predicted. Losses are sums, and the caller chooses the
// scales of gradients, so that a batch makes the same step however it is split over micro-batches and ranks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace podium {

inline constexpr std::size_t kMostLossTerms = 4;  // of a head

inline constexpr int kTokenTypes = 2;  // segment A and segment B

// What a loss term predicts: labels[i] or values[i] at positions[i] of the batch, flat and ascending; or a
// teacher's scores, which are its values alone.
struct Targets {
  std::vector<std::int32_t> positions;
  std::vector<std::int32_t> labels;
  std::vector<float> values;  // in place of labels
};

// Predicts one label, or one value, for each sequence, at its first token.
Targets sequence_targets(std::vector<std::int32_t> labels, int length);
Targets sequence_values(std::vector<float> values, int length);

// Host memory, row-major [sequences, length].
struct MicroBatch {
  int sequences = 0;
  int length = 0;
  std::int64_t first_sample = 0;  // global index, within the step, of its first sequence
  std::vector<std::int32_t> input_ids;
  std::vector<std::int32_t> token_types;    // BERT; empty: all 0
  std::vector<std::int32_t> valid_lengths;  // [sequences]; positions beyond are padding
  std::array<Targets, kMostLossTerms> targets;
};

// What the loss sum of each term is multiplied by before its gradient is taken.
using LossScales = std::array<float, kMostLossTerms>;

struct LossSum {
  double loss = 0;
  std::int64_t count = 0;    // of labels
  std::int64_t correct = 0;  // of these labels: the likeliest prediction

  LossSum& operator+=(const LossSum& other);
};

// One for each term.
using LossSums = std::array<LossSum, kMostLossTerms>;

LossSums& operator+=(LossSums& sums, const LossSums& more);

// Selects the dropout masks of one step. Masks depend on a sequence's global index within the step and not on
// the rank that computes it, so any number of processes draws the same masks.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

}  // namespace podium
