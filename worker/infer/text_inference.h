// What a BERT makes of lines of text: candidates for its masks, whether the second of a pair follows the
// first, embeddings.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/infer/bert_sessions.h"
#include "worker/infer/text_batches.h"

namespace podium {

struct Candidate {
  std::int32_t token = 0;
  double probability = 0;
};

struct TextResult {
  std::vector<std::vector<Candidate>> masks;  // of each mask in turn, the likeliest first
  std::optional<double> follows;              // of a pair: the probability
  std::vector<float> mean;                    // of the hidden states of all tokens
  std::vector<float> pooled;                  // empty where the model has no pooler
  // All that the model computed of the sequence; else there are no candidates (finite_results.h).
  bool finite = true;
};

class TextInference {
 public:
  // All outlive it.
  TextInference(Context& context, BertWeights& weights, const SpecialTokens& special)
      : context_(context), weights_(weights), special_(special), sessions_(context, weights) {}

  // One result a sequence; `tops` has for each the candidates of a mask, or `top` of all.
  std::vector<TextResult> run(std::span<const TextSequence> sequences, std::span<const int> tops,
                              const ProductObserver& observer = nullptr);
  std::vector<TextResult> run(std::span<const TextSequence> sequences, int top,
                              const ProductObserver& observer = nullptr);

 private:
  Context& context_;
  BertWeights& weights_;
  SpecialTokens special_;
  BertSessions sessions_;
};

}  // namespace podium
