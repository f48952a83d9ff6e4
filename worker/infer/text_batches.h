// Texts on their way to BERT: "[CLS] a [SEP]", or of a pair "[CLS] a [SEP] b [SEP]".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/infer/bert_session.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct TextSequence {
  std::string text;
  std::vector<std::int32_t> ids, types;
  std::vector<int> masked;  // positions of [MASK]
  bool cut = false;         // to the limit

  int length() const { return static_cast<int>(ids.size()); }
  bool is_pair() const { return !types.empty() && types.back() == 1; }
};

struct TextLimit {
  int tokens = 0;
  bool cut = false;  // what is longer, from the end of the longer text; else it is refused
};

// Throws BadData, `origin` naming the text, where it is no UTF-8 or beyond the limit. A pair's text has a tab
// between its two.
TextSequence encode_text(const WordPieceTokenizer& tokenizer, std::string_view first,
                         std::optional<std::string_view> second, const TextLimit& limit,
                         const std::string& origin);
// The same of a line, which a tab parts into a pair, of at most `most` tokens.
TextSequence encode_line(const WordPieceTokenizer& tokenizer, std::string_view line, int most,
                         const std::string& origin);

// Whether the text, or one of a pair, has no token of its own.
bool has_empty_part(const TextSequence& sequence);

// The smallest of the shapes that batches are rounded up to; sequences of up to `most` tokens.
SessionShape shape_of(std::span<const TextSequence> sequences, int most);
// Padded to `shape`; sequences beyond those given hold one token each.
InferenceBatch pack(std::span<const TextSequence> sequences, const SessionShape& shape,
                    const SpecialTokens& special);

}  // namespace podium
