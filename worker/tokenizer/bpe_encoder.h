// GPT-2's byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019). Any valid UTF-8 can be
// encoded, and decoding gives it back byte for byte. Ids must equal those of the reference implementations;
// tests hold them to published vectors.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {

// Turns text into ids; remembers frequent words. Used by one thread at a time.
class BpeEncoder {
 public:
  // `vocabulary` must outlive the encoder.
  explicit BpeEncoder(const BpeVocabulary& vocabulary);

  // Appends the ids of `text` (valid UTF-8); "<|endoftext|>" written out in it becomes that token.
  void encode(std::string_view text, std::vector<std::int32_t>& ids);

  // Encodes whole words of `text`, which has no "<|endoftext|>", until `bytes` of it are done or it ends;
  // returns how many bytes were. The rest gives the ids that it would give within the whole.
  std::size_t encode_words(std::string_view text, std::size_t bytes, std::vector<std::int32_t>& ids);

 private:
  // One byte or merged bytes of the word at work, linked to its neighbours; -1 ends the word.
  struct Piece {
    std::int32_t token = 0;
    std::int32_t before = -1;
    std::int32_t after = -1;
  };
  struct Candidate {
    BpeMerge merge;
    std::int32_t at = 0;  // piece that would take in its neighbour
    std::int32_t left = 0;
    std::int32_t right = 0;
  };
  struct CachedWord {
    std::array<char, 22> text;
    std::uint8_t bytes = 0;
    std::uint8_t tokens = 0;
    std::array<std::int32_t, 4> ids;
  };

  void encode_word(std::string_view word, std::vector<std::int32_t>& ids);
  void merge_word(std::string_view word, std::vector<std::int32_t>& ids);
  void add_candidate(std::int32_t at, std::vector<Candidate>& candidates) const;
  void apply(const Candidate& candidate);

  const BpeVocabulary& vocabulary_;
  std::vector<CachedWord> cache_;  // at most one word for each hash value
  std::vector<Piece> pieces_;
  std::vector<Candidate> queue_;  // heap, the next merge first
  std::vector<Candidate> fresh_;
};

}  // namespace podium
