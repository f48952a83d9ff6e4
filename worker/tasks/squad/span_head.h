// Scores every token of a sequence as the first and as the last one of an answer (Devlin et al., 2018): one
// dense layer [2, hidden], which has Hugging Face's name, "qa_outputs". Each of the two is a term of the
// loss, a cross-entropy over the valid positions of the sequence.
#pragma once

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kFirstTerm = 0;
inline constexpr std::size_t kLastTerm = 1;

// Targets of both terms: a label for each sequence, the position within it; negative: none. When it only
// evaluates it returns the scores [rows of the batch, 2] (row_layout.h).
HeadPlan span_head();

}  // namespace podium
