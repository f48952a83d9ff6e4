#include "worker/tokenizer/pair_encoding.h"

namespace podium {

PairEncoding encode_pair(const WordPieceTokenizer& tokenizer, std::string_view first,
                         std::string_view second) {
  const SpecialTokens& special = tokenizer.vocabulary().special();
  PairEncoding pair{.ids = {special.classify}, .offsets = {{}}};
  const auto add = [&](std::string_view text, std::int32_t type) {
    tokenizer.encode(text, {pair.ids, &pair.offsets});
    pair.ids.push_back(special.separator);
    pair.offsets.emplace_back();
    pair.types.resize(pair.ids.size(), type);
  };
  add(first, 0);
  add(second, 1);
  return pair;
}

}  // namespace podium
