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
  int threads() const { return threads_; }                // of the context
  int length(int slot) const { return at(slot).length; }  // tokens it has, or had when it ended

  // A new sequence begins with `prompt`, of 1 to positions() tokens, which is computed at once. The logits of
  // the token after it, and its slot; nothing where all slots are taken.
  struct Begun {
    int slot = 0;
    std::vector<float> logits;
  };
  std::optional<Begun> begin(std::span<const std::int32_t> prompt);
  // A new sequence begins with the first `length` tokens of the one that is in `slot` or was the last there:
  // what is known of them is copied. Its slot, which may be the same; nothing where all are taken.
  std::optional<int> begin_as(int slot, int length);

  // Each of these sequences, none twice, goes on with its token. Their logits, row-major [next, vocabulary].
  // A sequence's own do not depend on the others: on the CPU to the bit.
  std::vector<float> extend(std::span<const Next> next);

  // The sequence leaves, and its slot is free.
  void end(int slot) { at(slot).taken = false; }

 private:
  struct Slot {
    int length = 0;
    bool taken = false;
  };

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }
  const Slot& at(int slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  std::optional<int> find_free() const;

  LanguagePass pass_;
  int vocabulary_, threads_;
  std::vector<Slot> slots_;
  std::size_t together_;  // sequences of a pass: on the CPU so many as do not depend on each other
};

}  // namespace podium
