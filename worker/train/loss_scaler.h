// Keeps fp16 gradients within range (Micikevicius et al., 2018): losses are multiplied by `scale` before
// backward and gradients divided by it before the update. A step whose gradients overflow is skipped. In
// other precisions the scale is 1 and nothing is ever skipped.
//
// Starts at 2^16, halves at each overflow down to 1, doubles after 2000 clean steps up to 2^24. Pure: all
// ranks judge the same norm and so agree.
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

// What a checkpoint keeps.
struct LossScalerState {
  double scale = 1;
  std::int64_t clean_steps = 0;  // since the scale last changed
  std::int64_t skipped = 0;      // steps, from the first on

  bool operator==(const LossScalerState&) const = default;
};

enum class StepVerdict {
  take,
  skip,      // fp16 overflowed: discard the gradients and go on at half the scale
  diverged,  // gradients are not finite, and no smaller scale would make them so
};

class LossScaler {
 public:
  explicit LossScaler(Precision precision);

  double scale() const { return state_.scale; }
  // Judges a step by the norm of its scaled gradients, and sets the scale of the next.
  StepVerdict judge(double gradient_norm);

  const LossScalerState& state() const { return state_; }
  void restore(const LossScalerState& state) { state_ = state; }

 private:
  bool dynamic_;
  LossScalerState state_;
};

}  // namespace podium
