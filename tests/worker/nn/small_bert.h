// A BERT small enough for tests, and batches for it with padding and masked positions.
#pragma once

#include <algorithm>

#include "worker/nn/bert.h"
#include "worker/tensor/random.h"

namespace podium::test {

inline ModelSpec small_bert_spec() {
  ModelSpec spec;
  spec.layers = 2;
  spec.hidden = 64;
  spec.heads = 4;
  spec.intermediate = 128;
  spec.vocab = 200;
  spec.max_positions = 40;
  spec.dropout = 0.0;
  spec.attention_dropout = 0.0;
  spec.initializer_range = 0.1;  // larger than usual: every part of the model then matters to the loss
  return spec;
}

// Sequences of 3/4 to all of `length`; every fifth position within a sequence is masked.
inline BertBatch random_batch(const ModelSpec& spec, int sequences, int length, std::uint64_t seed) {
  Random random(seed, 0);
  BertBatch batch{.sequences = sequences,
                  .length = length,
                  .input_ids = {},
                  .token_types = {},
                  .valid_lengths = {},
                  .masked_positions = {},
                  .masked_labels = {},
                  .next_sentence_labels = {}};
  const auto draw = [&](int bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(bound)));
  };
  for (int s = 0; s < sequences; ++s) {
    const std::int32_t valid = length - draw(length / 4 + 1);
    batch.valid_lengths.push_back(valid);
    batch.next_sentence_labels.push_back(draw(2));
    for (int t = 0; t < length; ++t) {
      batch.input_ids.push_back(t < valid ? draw(spec.vocab) : 0);
      batch.token_types.push_back(t > length / 2 ? 1 : 0);
      if (t % 5 == 2 && t < valid) {
        batch.masked_positions.push_back(s * length + t);
        batch.masked_labels.push_back(draw(spec.vocab));
      }
    }
  }
  return batch;
}

// Biases and norms away from the zeros and ones they start with, so that errors in them show.
inline void randomise(ParameterStore& parameters, std::uint64_t seed) {
  parameters.initialise(seed, 0.1);
  for (const Parameter& p : parameters.list()) {
    if (p.decay) continue;
    Random random(seed, static_cast<std::uint64_t>(p.offset));
    for (float& value : parameters.weights(p)) value += static_cast<float>(0.1 * random.normal());
  }
  parameters.weights_changed();
}

}  // namespace podium::test
