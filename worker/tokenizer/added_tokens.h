// Tokens that are found in the text before it is cut into words: special ones such as [MASK] and
// <|endoftext|>, and those that were added to a vocabulary later.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/tokenizer/byte_trie.h"

namespace podium {

// As Hugging Face's AddedToken.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  // not where a word goes on before or after it
  bool lstrip = false;       // takes in the white space before it,
  bool rstrip = false;       // or after it
  bool normalized = false;   // is looked for in normalised text
};

// Immutable once made.
class AddedTokens {
 public:
  AddedTokens() = default;
  // Of tokens with the same content the first counts, and empty ones do not.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  // Calls on_text(begin, end) and on_token(begin, end, id) with the bytes of `text` in their order; the
  // leftmost token counts, of those that begin together the longest.
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
    std::size_t searched = 0;  // where the search goes on
  };

  // The next token from `found.searched` on; text before `done` belongs to others.
  bool next(std::string_view text, std::size_t done, Found& found) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;                   // of their contents: places in tokens_
  std::array<bool, 256> begins_{};  // whether one begins with the byte
};

}  // namespace podium
