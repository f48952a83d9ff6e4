// WordPiece: BERT's greedy longest-match tokenizer (Devlin et al., 2018) over a vocabulary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/added_tokens.h"
#include "worker/tokenizer/byte_trie.h"
#include "worker/tokenizer/tokenizer.h"
#include "worker/tokenizer/vocabulary.h"
#include "worker/tokenizer/words.h"

namespace podium {

struct WordPieceOptions {
  BertRules rules;
  std::string continuation = "##";  // begins the tokens that go on a word
  std::int32_t longest_word = 100;  // characters; longer words are unknown
  std::vector<AddedToken> added;
  SpecialNames names = {};
};

class WordPieceTokenizer final : public Tokenizer {
 public:
  // As published: capitals go with accents, and the special tokens are kept where they are written out.
  WordPieceTokenizer(Vocabulary vocabulary, bool lowercase);
  WordPieceTokenizer(Vocabulary vocabulary, const WordPieceOptions& options);

  using Tokenizer::encode;
  void encode(std::string_view text, TokenOutput output) const override;
  std::int32_t size() const override { return size_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  // Of the vocabulary or added to it; "" where no token has the id.
  std::string_view token(std::int32_t id) const;
  // Of the vocabulary or added to it; -1 where there is none.
  const SpecialTokens& special() const { return special_; }

 private:
  void encode_normalized(const NormalizedText& text, TokenOutput output) const;
  void encode_word(const NormalizedText& text, std::size_t begin, std::size_t end, TokenOutput output) const;

  Vocabulary vocabulary_;
  std::vector<AddedToken> beyond_;  // whose ids the vocabulary lacks
  SpecialTokens special_;
  std::int32_t size_;
  std::int32_t longest_word_;
  BertNormalizer normalizer_;
  AddedTokens added_;             // looked for in the text as it is
  AddedTokens added_normalized_;  // and when it is normalised
  ByteTrie beginnings_;           // of words
  ByteTrie continuations_;        // without their prefix
};

}  // namespace podium
