// The text or the pair of a request as tokens.
#pragma once

#include <optional>
#include <string>

#include "worker/infer/text_batches.h"
#include "worker/serve/request_fields.h"

namespace podium {

// What is beyond the limit or without a token is a mistake of "text".
TextSequence encoded_text(const WordPieceTokenizer& tokenizer, const std::string& text,
                          const std::optional<std::string>& second, const TextLimit& limit,
                          RequestFields& fields);

}  // namespace podium
