// Scores every token of a sequence as the first and as the last one of an answer (Devlin et al., 2018): one
// dense layer [2, hidden], which has Hugging Face's name, "qa_outputs". Each of the two is a term of the
// loss, a cross-entropy over the valid positions of the sequence.
#pragma once

#include <optional>

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kFirstTerm = 0;
inline constexpr std::size_t kLastTerm = 1;
// Only with `distill`.
inline constexpr std::size_t kTaughtFirstTerm = 2;
inline constexpr std::size_t kTaughtLastTerm = 3;

// Targets of both terms: a label for each sequence, the position within it; negative: none. When it only
// evaluates it returns the scores [rows of the batch, 2] (row_layout.h). With `distill` a batch to train on
// has a teacher's scores of both kinds, one for each row.
HeadPlan span_head(const std::optional<DistillSpec>& distill = {});

}  // namespace podium
