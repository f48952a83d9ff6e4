// Samples for BERT pre-training, drawn at run time: sample i is a pure function of (corpus, options, i),
// whatever rank, thread or restart asks for it. Sample i belongs to the epoch that i falls into; epochs
// differ in plan and order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/data/corpus.h"
#include "worker/data/masking.h"
#include "worker/data/sentence_pairs.h"
#include "worker/data/shuffle.h"

namespace podium {

struct PretrainingOptions {
  std::int32_t sequence_length = 128;
  MaskingRule masking;
  std::uint64_t seed = 1;
  double short_share = 0.1;  // of sequences (sentence_pairs.h)
};

// One sequence without its padding: [CLS] A [SEP] B [SEP], corrupted.
struct PretrainingSample {
  std::vector<std::int32_t> ids;
  std::int32_t first_of_b = 0;  // token type 1 begins here
  Masked masked;
  bool random_next = false;
};

// Used by one thread at a time: it keeps the plan of the epoch asked for last.
class PretrainingDataset {
 public:
  // Both must outlive the dataset.
  PretrainingDataset(const Corpus& corpus, const Vocabulary& vocabulary, const PretrainingOptions& options);

  PretrainingSample sample(std::int64_t index);
  // How many samples the epoch of sample 0 has.
  std::int64_t first_epoch_size();

 private:
  struct Epoch {
    std::int64_t number = 0;
    std::int64_t first_sample = 0;
    std::vector<PairSpan> spans;
    Shuffle order;
  };

  Epoch make_epoch(std::int64_t number, std::int64_t first_sample) const;
  void move_to(std::int64_t index);

  const Corpus& corpus_;
  const Vocabulary& vocabulary_;
  PretrainingOptions options_;
  std::int32_t budget_;
  Epoch epoch_;
};

}  // namespace podium
