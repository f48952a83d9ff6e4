// How what a BERT makes of a text (text_inference.h) is told.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "worker/infer/text_inference.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

// Throws BadData if a text has a [MASK] and the model, which messages call `origin`, no head that predicts
// it.
void check_masks(std::span<const TextSequence> sequences, const BertWeights& weights,
                 const std::string& origin);

// A vocabulary may be smaller than the model's, which is padded: a candidate must be a token.
void drop_unknown(TextResult& result, const WordPieceTokenizer& tokenizer);

// The text, and a line for each mask and of a pair.
std::string result_text(const TextSequence& sequence, const TextResult& result,
                        const WordPieceTokenizer& tokenizer);
// "tokens", "masks" and of a pair "follows".
nlohmann::json result_json(const TextSequence& sequence, const TextResult& result,
                           const WordPieceTokenizer& tokenizer);

}  // namespace podium
