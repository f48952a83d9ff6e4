// BERT's next-sentence pairs (Devlin et al., 2018, create_pretraining_data). A plan walks the corpus once an
// epoch and cuts every document into spans; a sample then draws what is left open: the random B, truncation.
// Everything is a pure function of (seed, epoch or sample).
#pragma once

#include <cstdint>
#include <vector>

#include "worker/data/corpus.h"
#include "worker/tensor/random.h"

namespace podium {

// One sample's place in the corpus: A is the sentences [begin, middle); B is [middle, end), or, where
// `random_next`, drawn from another document.
struct PairSpan {
  std::int64_t document = 0;
  std::int64_t begin = 0;
  std::int64_t middle = 0;
  std::int64_t end = 0;
  std::int32_t target = 0;  // tokens of A and B together
  bool random_next = false;

  bool operator==(const PairSpan&) const = default;
};

struct TokenPair {
  std::vector<std::int32_t> a;
  std::vector<std::int32_t> b;
  bool random_next = false;
};

// Spans of one epoch in corpus order. `budget` is the most tokens A and B may have together; `short_share` of
// the spans aim at fewer, any number from 2 on (BERT's short_seq_prob, drawn for each span as Megatron-LM
// does). Sentences that a random B left unused open the next span.
std::vector<PairSpan> plan_pairs(const Corpus& corpus, std::int32_t budget, double short_share,
                                 Random& random);

// The span's tokens, cut to the budget from a random end of the longer segment; neither segment is empty.
TokenPair draw_pair(const Corpus& corpus, const PairSpan& span, std::int32_t budget, Random& random);

}  // namespace podium
