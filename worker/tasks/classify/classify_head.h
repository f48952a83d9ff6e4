// Predicts the class or the value of a sequence (nn/sequence_head.h). Its layer has Hugging Face's name,
// "classifier".
#pragma once

#include <optional>
#include <vector>

#include "worker/nn/head.h"

namespace podium {

inline constexpr std::size_t kClassTerm = 0;
inline constexpr std::size_t kTaughtClassTerm = 1;  // only with `distill`

// No `classes`: a value is predicted. `class_weights` may be empty (sequence_head.h). `distill` is of
// classes: a batch to train on has a teacher's scores of them.
HeadPlan classify_head(int classes, double dropout = 0, const std::vector<float>& class_weights = {},
                       const std::optional<DistillSpec>& distill = {});

}  // namespace podium
