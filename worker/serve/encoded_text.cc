#include "worker/serve/encoded_text.h"

#include "worker/input/bad_data.h"

namespace podium {

TextSequence encoded_text(const WordPieceTokenizer& tokenizer, const std::string& text,
                          const std::optional<std::string>& second, const TextLimit& limit,
                          RequestFields& fields) {
  try {
    return encode_text(tokenizer, text, second, limit, "the text");
  } catch (const BadData& error) {
    fields.refuse(error.what(), "text");
    return {};
  }
}

}  // namespace podium
