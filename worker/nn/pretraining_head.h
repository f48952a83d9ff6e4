// The heads that families are pre-trained with, and their terms.
#pragma once

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kLanguageTerm = 0;      // masked tokens (BERT), next tokens (GPT)
inline constexpr std::size_t kNextSentenceTerm = 1;  // BERT; 0: is next, 1: random

HeadPlan pretraining_head(ModelFamily family);

}  // namespace podium
