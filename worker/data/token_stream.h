// The text of a language model as one long row of tokens, file after file in the order given. Immutable once
// read.
//
// Every document of a text file (documents.h) is followed by the end-of-text token. NAME.bin with NAME.idx
// beside it is Megatron data, taken as it is: its documents end with that token where preprocess_data.py ran
// with --append-eod.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/model/text_identity.h"
#include "worker/data/megatron_data.h"
#include "worker/data/reading.h"
#include "worker/data/token_array.h"
#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

class TokenStream {
 public:
  // Text is encoded now, Megatron data stay in their file. Throws BadData, also where there are not two
  // tokens.
  TokenStream(const std::vector<std::filesystem::path>& files, const BpeTokenizer& tokenizer,
              Reading& reading);

  std::int64_t tokens() const { return parts_.back().end; }
  // Tokens [begin, begin + ids.size()). Throws BadData where Megatron data hold what is no token.
  void read(std::int64_t begin, std::span<std::int32_t> ids) const;

  TextIdentity identity() const;

  // How often each token id occurs; counted on an even choice of at most about 2^26 tokens.
  std::vector<std::int64_t> frequencies() const;

 private:
  struct Part {
    std::variant<TokenArray, MegatronData> tokens;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  std::int32_t vocabulary_size_;
  std::vector<Part> parts_;
};

}  // namespace podium
