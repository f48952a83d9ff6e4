// The interface of all tokenizers: text in, token ids out. load_tokenizer.h makes one from files. Ids and
// offsets must equal those of the reference implementation, Hugging Face's tokenizers; tests compare them
// with its vectors.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace podium {

// Characters (Unicode code points) [begin, end) of a text.
struct CharacterRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool operator==(const CharacterRange&) const = default;
};

// A tokenizer appends to these. Without `offsets` it does not compute the places of the tokens.
struct TokenOutput {
  std::vector<std::int32_t>& ids;
  std::vector<CharacterRange>* offsets = nullptr;
};

// Immutable once made; any number of threads may use it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Appends the tokens of `text`, which is valid UTF-8, and of at most 2 GiB if `output` has offsets. A
  // special token that the text spells out becomes that token; no other is added.
  virtual void encode(std::string_view text, TokenOutput output) const = 0;
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const { encode(text, TokenOutput{ids}); }

  virtual std::int32_t size() const = 0;  // all ids are below it
};

}  // namespace podium
