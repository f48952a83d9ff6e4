// Tokens that are searched for before the text is split into words: special tokens such as [MASK] and
// <|endoftext|>, and tokens that were added to a trained vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/byte_trie.h"

namespace podium {

// The fields of Hugging Face's AddedToken.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  // does not match inside a word
  bool lstrip = false;       // includes the white space before it
  bool rstrip = false;       // includes the white space after it
  bool normalized = false;   // is searched for in normalised text
};

// The byte at which the white space before byte `at` begins; `at` if there is none.
std::size_t before_space(std::string_view text, std::size_t at);
// The byte at which the white space from byte `at` on ends; `at` if there is none.
std::size_t behind_space(std::string_view text, std::size_t at);

// Immutable once made.
class AddedTokens {
 public:
  AddedTokens() = default;
  // Ignores empty tokens, and all but the first of those with the same content.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  // Calls on_token(begin, end, id) for each token found and on_text(begin, end) for the text between them, in
  // order, with places in bytes. The leftmost token is taken, and of those that begin there the longest.
  template <typename OnText, typename OnToken>
  void split(std::string_view text, const OnText& on_text, const OnToken& on_token) const {
    std::size_t done = 0;
    if (!empty())
      for (Found found{}; next(text, done, found);) {
        if (found.begin > done) on_text(done, found.begin);
        on_token(found.begin, found.end, found.id);
        done = found.end;
      }
    if (text.size() > done) on_text(done, text.size());
  }

 private:
  struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::int32_t id = 0;
    std::size_t searched = 0;  // where the search continues
  };

  // Finds the next token from `found.searched` on. The text before `done` is already taken.
  bool next(std::string_view text, std::size_t done, Found& found) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;                   // maps their contents to indices of tokens_
  std::array<bool, 256> begins_{};  // whether a token begins with the byte
};

}  // namespace podium
