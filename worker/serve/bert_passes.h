// The passes of a BERT over batches of sequences of any lengths. Used by one thread at a time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "worker/infer/head_inference.h"
#include "worker/infer/text_inference.h"
#include "worker/serve/batch_engine.h"
#include "worker/serve/loaded_model.h"

namespace podium {

class BertPasses {
 public:
  // Both outlive it.
  BertPasses(Context& context, BertModel& model)
      : text_(context, model.weights, model.tokenizer->special()),
        heads_(context, model.weights, model.tokenizer->special()) {}

  // As ComputePass says: groups of like lengths one after another, the longest first. Where one cannot be
  // computed, its sequences alone fail.
  void compute(HeadPass pass, std::span<const TextSequence> sequences, std::span<const int> tops,
               const GiveResult& give);

 private:
  std::vector<SequenceResult> compute_padded(HeadPass pass, std::span<const TextSequence> sequences,
                                             std::span<const int> tops);

  TextInference text_;
  HeadInference heads_;
};

// What `compute` gives for so many sequences; where it throws, each has failed.
std::vector<SequenceResult> results_or_failures(std::size_t sequences,
                                                const std::function<std::vector<SequenceResult>()>& compute);

// Places of `lengths`, in groups that are computed with padding to the longest of each: at most a fourth of
// what is computed is padding, but for what rounding to 16 tokens adds. A group has 1, 2, 4, 8 … of them, so
// that few shapes come up and their sessions serve again.
std::vector<std::vector<std::size_t>> groups_by_length(std::span<const int> lengths);

}  // namespace podium
