#include "worker/serve/encoded_text.h"

#include "worker/input/bad_data.h"

namespace podium {

TextSequence encoded_text(const WordPieceTokenizer& tokenizer, const std::string& text,
                          const std::optional<std::string>& second, const TextLimit& limit,
                          RequestFields& fields) {
  TextSequence sequence;
  try {
    sequence = encode_text(tokenizer, text, second, limit, "the text");
    if (has_empty_part(sequence))
      fields.refuse(second ? "has no token, or its second text has none" : "has no token", "text");
  } catch (const BadData& error) {
    fields.refuse(error.what(), "text");
  }
  return sequence;
}

}  // namespace podium
