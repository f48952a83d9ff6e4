// Two texts as BERT reads them: "[CLS] first [SEP] second [SEP]".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct PairEncoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;      // 0 up to the first [SEP], then 1
  std::vector<CharacterRange> offsets;  // in the text that the token is of; [0, 0) of [CLS] and [SEP]
};

PairEncoding encode_pair(const WordPieceTokenizer& tokenizer, std::string_view first,
                         std::string_view second);

}  // namespace podium
