// Merges the bytes of one word into tokens (Sennrich et al., 2016): always the pair of the lowest rank next.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {

// Keeps its memory from word to word. Used by one thread at a time.
class BpeWordMerger {
 public:
  // `vocabulary` must outlive it.
  explicit BpeWordMerger(const BpeVocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Appends the tokens of `word`.
  void merge(std::string_view word, std::vector<std::int32_t>& ids);

 private:
  // One byte or merged bytes of the word at work, linked to its neighbours; -1 ends the word. A long word
  // costs 12 bytes of memory here for each of its own, and 8 for each candidate.
  struct Piece {
    std::int32_t token = 0;
    std::int32_t before = -1;
    std::int32_t after = -1;
  };
  struct Candidate {
    std::int32_t rank = 0;  // of the merge, which is of one pair of tokens only
    std::int32_t at = 0;    // piece that would take in its neighbour
  };

  void add_candidate(std::int32_t at, std::vector<Candidate>& candidates) const;
  void apply(const Candidate& candidate);

  const BpeVocabulary& vocabulary_;
  std::vector<Piece> pieces_;
  std::vector<Candidate> queue_;  // heap, the next merge first
  std::vector<Candidate> fresh_;
};

}  // namespace podium
