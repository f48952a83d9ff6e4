// BERT's masked-language-model corruption: some positions are predicted; of those 80 % read [MASK], 10 % a
// random token and 10 % stay as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/tensor/random.h"
#include "worker/tokenizer/vocabulary.h"

namespace podium {

struct MaskingRule {
  double probability = 0.15;
  std::int32_t max_predictions = 20;
  bool whole_word = false;
};

// Predictions a sequence of BERT's recipe gets: 20 at 128 tokens, 80 at 512, and in proportion.
std::int32_t default_max_predictions(std::int32_t sequence_length);

struct Masked {
  std::vector<std::int32_t> positions;  // ascending
  std::vector<std::int32_t> labels;     // what stood there
};

// Corrupts `ids` in place. [CLS] and [SEP] are never chosen.
Masked mask_tokens(std::vector<std::int32_t>& ids, const MaskingRule& rule, const Vocabulary& vocabulary,
                   Random& random);

}  // namespace podium
