// What a BERT's head for answers or for classes makes of sequences.
#pragma once

#include <span>
#include <vector>

#include "worker/infer/bert_sessions.h"
#include "worker/infer/text_batches.h"

namespace podium {

class HeadInference {
 public:
  // All outlive it.
  HeadInference(Context& context, BertWeights& weights, const SpecialTokens& special)
      : context_(context), weights_(weights), special_(special), sessions_(context, weights) {}

  // Of every token as the first and as the last one of an answer: row-major [tokens, 2] for each sequence.
  // The weights have the head (BertWeights::span).
  std::vector<std::vector<float>> span_scores(std::span<const TextSequence> sequences);
  // A logit for each class, or a value, for each sequence. The weights have the head
  // (BertWeights::classifier).
  std::vector<std::vector<float>> class_logits(std::span<const TextSequence> sequences);

 private:
  // Which has computed them; what is padded to its shape comes last.
  BertSession& computed(std::span<const TextSequence> sequences, const SessionShape& shape);

  Context& context_;
  BertWeights& weights_;
  SpecialTokens special_;
  BertSessions sessions_;
};

// exp(x) / sum(exp(x)).
std::vector<double> softmax_of(std::span<const float> logits);

}  // namespace podium
