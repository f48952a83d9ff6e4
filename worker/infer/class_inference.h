// What a BERT with a classifier makes of sequences: a logit for each class, or a value.
#pragma once

#include <span>
#include <vector>

#include "worker/infer/bert_sessions.h"
#include "worker/infer/text_batches.h"

namespace podium {

class ClassInference {
 public:
  // All outlive it. The weights have the head (BertWeights::classifier).
  ClassInference(Context& context, BertWeights& weights, const SpecialTokens& special)
      : context_(context), weights_(weights), special_(special), sessions_(context, weights) {}

  // The head's outputs for each sequence.
  std::vector<std::vector<float>> run(std::span<const TextSequence> sequences);

 private:
  Context& context_;
  BertWeights& weights_;
  SpecialTokens special_;
  BertSessions sessions_;
};

// exp(x) / sum(exp(x)).
std::vector<double> softmax_of(std::span<const float> logits);

}  // namespace podium
