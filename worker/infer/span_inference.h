// The scores of a BERT for question answering: of every token as the first and as the last one of an answer.
#pragma once

#include <span>
#include <vector>

#include "worker/infer/bert_sessions.h"
#include "worker/infer/text_batches.h"

namespace podium {

class SpanInference {
 public:
  // All outlive it. The weights have the head (BertWeights::span).
  SpanInference(Context& context, BertWeights& weights, const SpecialTokens& special)
      : context_(context), weights_(weights), special_(special), sessions_(context, weights) {}

  // Row-major [tokens, 2] for each sequence.
  std::vector<std::vector<float>> run(std::span<const TextSequence> sequences);

 private:
  Context& context_;
  BertWeights& weights_;
  SpecialTokens special_;
  BertSessions sessions_;
};

}  // namespace podium
