// The sequence that a BERT sees of a sentence or a pair: "[CLS] a [SEP]" or "[CLS] a [SEP] b [SEP]", where
// the second sentence and its [SEP] have token type 1. What is too long is cut at its end, the longer of two
// sentences first, as Google's run_classifier.py does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/tokenizer/vocabulary.h"

namespace podium {

// A sentence, or two.
struct SentenceTokens {
  std::vector<std::int32_t> first, second;
  bool is_pair = false;

  std::int64_t special_tokens() const { return is_pair ? 3 : 2; }
  // With the special tokens, before it is cut.
  std::int64_t length() const { return std::ssize(first) + std::ssize(second) + special_tokens(); }
};

// Appends at most `most` ids, and a type for each.
void append_sequence(SentenceTokens sentences, std::int64_t most, const SpecialTokens& special,
                     std::vector<std::int32_t>& ids, std::vector<std::int32_t>& types);

}  // namespace podium
