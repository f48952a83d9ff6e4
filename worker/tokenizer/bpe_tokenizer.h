// GPT-2's byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019). Any valid UTF-8 can be
// encoded, and decoding gives it back byte for byte.
#pragma once

#include <cstdint>
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
  bool add_prefix_space =
      false;                  // text that begins with another character is read as if a space stood before
  bool trim_offsets = false;  // places of tokens are without the spaces at their ends,
  bool trims_prefix = false;  // also without one at the begin of the text
  std::vector<AddedToken> added;
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

  // Encodes whole words of `text`, in which no special token is looked for, until `bytes` of it are done or
  // it ends; returns how many bytes were. The rest gives the ids that it would give within the whole.
  std::size_t encode_words(std::string_view text, std::size_t bytes, std::vector<std::int32_t>& ids) const;

 private:
  class Pass;

  void encode_word(std::string_view word, BpeWordMerger& merger, std::vector<std::int32_t>& ids) const;

  BpeVocabulary vocabulary_;
  BpeOptions options_;
  std::int32_t size_;
  AddedTokens added_;        // looked for first,
  AddedTokens added_later_;  // and in what is left: those that Hugging Face looks for in normalised text
  ByteTrie whole_;           // words that are one token
};

}  // namespace podium
