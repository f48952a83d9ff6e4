// Sequences that a language model goes on with. Each has a slot of the cache, in which it joins and leaves
// between steps, whatever the others do; what comes next is for the caller to choose. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "worker/generate/language_pass.h"

namespace podium {

class GenerationSession {
 public:
  struct Next {
    int slot = 0;
    std::int32_t token = 0;
  };

  // Context and weights outlive it.
  GenerationSession(Context& context, LanguageWeights& weights, const CacheShape& cache);

  int slots() const { return pass_.cache().slots; }
  int positions() const { return pass_.cache().positions; }
  int vocabulary() const { return vocabulary_; }
  int length(int slot) const { return lengths_[static_cast<std::size_t>(slot)]; }  // tokens it has

  // A new sequence begins with `prompt`, of 1 to positions() tokens, which is computed at once. The logits of
  // the token after it, and its slot; nothing where all slots are taken.
  struct Begun {
    int slot = 0;
    std::vector<float> logits;
  };
  std::optional<Begun> begin(std::span<const std::int32_t> prompt);

  // Each of these sequences, none twice, goes on with its token. Their logits, row-major [next, vocabulary].
  // A sequence's own do not depend on the others: on the CPU to the bit.
  std::vector<float> extend(std::span<const Next> next);

  // The sequence leaves, and its slot is free.
  void end(int slot);

 private:
  LanguagePass pass_;
  int vocabulary_;
  std::vector<int> lengths_;  // 0: the slot is free
};

}  // namespace podium
