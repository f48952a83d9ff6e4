// Text to token ids, whatever the kind of tokenizer (load_tokenizer.h makes one from files). Ids and offsets
// must equal those of the reference implementation, Hugging Face's tokenizers; tests hold them to its
// vectors.
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

// What a tokenizer appends to: ids, and where somebody asks the place of each token in the text.
struct TokenOutput {
  std::vector<std::int32_t>& ids;
  std::vector<CharacterRange>* offsets = nullptr;
};

// Immutable once made: any number of threads may use one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Appends the tokens of `text` (valid UTF-8; of at most 2 GiB where offsets are asked for). Special tokens
  // written out in it become themselves; none is added.
  virtual void encode(std::string_view text, TokenOutput output) const = 0;
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const { encode(text, TokenOutput{ids}); }

  virtual std::int32_t size() const = 0;  // ids are below it
};

}  // namespace podium
