// What one micro-batch brings to a model and what it takes home. Losses come as sums and gradients are added
// under caller-chosen scales, so that any split of a batch over micro-batches and ranks adds up to the same
// step.
#pragma once

#include <cstdint>
#include <vector>

namespace podium {

// Host memory, row-major [sequences, length].
struct MicroBatch {
  int sequences = 0;
  int length = 0;
  std::int64_t first_sample = 0;  // global index, within the step, of its first sequence
  std::vector<std::int32_t> input_ids;
  std::vector<std::int32_t> token_types;       // BERT; empty: all 0
  std::vector<std::int32_t> valid_lengths;     // [sequences]; positions beyond are padding
  std::vector<std::int32_t> scored_positions;  // where the language-model head predicts: flat, ascending
  std::vector<std::int32_t> labels;            // one for each scored position
  std::vector<std::int32_t>
      next_sentence_labels;  // BERT, [sequences]; 0 = is next, 1 = random; empty: no such loss
};

// What a loss sum is multiplied by before its gradient is taken.
struct LossScales {
  float language = 0.0F;  // masked tokens (BERT), next tokens (GPT)
  float next_sentence = 0.0F;
};

struct LossSums {
  double language = 0;
  std::int64_t language_count = 0;
  std::int64_t language_correct = 0;
  double next_sentence = 0;
  std::int64_t next_sentence_count = 0;
  std::int64_t next_sentence_correct = 0;

  LossSums& operator+=(const LossSums& other);
};

// Names the dropout masks of one step. They depend on the global index of each sequence within the step, not
// on the rank that computes it, so one process and many draw the same masks.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

}  // namespace podium
