// Real text for calibration: lines packed into sequences of one length, of which every seventh token is
// masked, as many as BERT's pre-training masks.
#pragma once

#include <string>
#include <vector>

#include "worker/infer/text_batches.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct MaskedSequence {
  TextSequence sequence;
  std::vector<std::int32_t> originals;  // of its masks
};

// At most `count` sequences of at most `length` tokens. Throws BadData where the files cannot be read or hold
// no text.
std::vector<MaskedSequence> read_masked_text(const std::vector<std::string>& globs,
                                             const WordPieceTokenizer& tokenizer, int length,
                                             std::size_t count);

}  // namespace podium
