// Which of some classes a sequence is of (nn/sequence_head.h), under Hugging Face's name "classifier".
#pragma once

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kClassTerm = 0;

HeadPlan classify_head(int classes);

}  // namespace podium
