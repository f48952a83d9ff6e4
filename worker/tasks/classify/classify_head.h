// Predicts the class or the value of a sequence (nn/sequence_head.h). Its layer has Hugging Face's name,
// "classifier".
#pragma once

#include <vector>

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kClassTerm = 0;

// No `classes`: a value is predicted. `class_weights` may be empty (sequence_head.h).
HeadPlan classify_head(int classes, double dropout = 0, const std::vector<float>& class_weights = {});

}  // namespace podium
