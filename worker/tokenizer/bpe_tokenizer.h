// GPT-2's byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019). Any valid UTF-8 can be
// encoded, and decoding gives it back byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/added_tokens.h"
#include "worker/tokenizer/bpe_vocabulary.h"
#include "worker/tokenizer/bpe_word_merger.h"
#include "worker/tokenizer/byte_trie.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

// The switches of Hugging Face's ByteLevel.
struct BpeOptions {
  bool add_prefix_space = false;  // encodes a text without a space in front as if it had one
  bool trim_offsets = false;      // offsets leave out the spaces at both ends of a token
  bool trims_prefix = false;      // they also leave out one at the begin of the text
  std::vector<AddedToken> added;
  std::string end_of_text{kEndOfText};  // the token's name
};

class BpeTokenizer final : public Tokenizer {
 public:
  // As published: "<|endoftext|>" written out becomes that token.
  explicit BpeTokenizer(BpeVocabulary vocabulary);
  BpeTokenizer(BpeVocabulary vocabulary, BpeOptions options);

  using Tokenizer::encode;
  void encode(std::string_view text, TokenOutput output) const override;
  std::int32_t size() const override { return size_; }
  const BpeVocabulary& vocabulary() const { return vocabulary_; }
  // Also where it was added; -1: there is none.
  std::int32_t end_of_text() const;
  // The bytes that a token stands for, also one that was added; "" where the id is no token.
  std::string_view token(std::int32_t id) const;

  // Encodes whole words of `text`, without a search for added tokens, until at least `bytes` are encoded or
  // the text ends. Returns how many bytes were. The rest, encoded later, gives the ids that it gives in the
  // whole.
  std::size_t encode_words(std::string_view text, std::size_t bytes, std::vector<std::int32_t>& ids) const;

 private:
  class Pass;

  void encode_word(std::string_view word, BpeWordMerger& merger, std::vector<std::int32_t>& ids) const;

  BpeVocabulary vocabulary_;
  BpeOptions options_;
  std::int32_t size_;
  AddedTokens added_;        // searched for first
  AddedTokens added_later_;  // searched for in the rest: those with `normalized`
  ByteTrie whole_;           // the words that are one token
};

}  // namespace podium
