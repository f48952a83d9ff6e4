// Predicts the class of a sequence (nn/sequence_head.h). Its layer has Hugging Face's name, "classifier".
#pragma once

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kClassTerm = 0;

HeadPlan classify_head(int classes);

}  // namespace podium
