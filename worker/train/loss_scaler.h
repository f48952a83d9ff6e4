// Judges each step by the norm of its gradients, and keeps fp16 gradients within range (Micikevicius et al.,
// 2018): losses are multiplied by `scale` before backward, and gradients are divided by it before the update.
//
// A batch whose gradients are not finite is passed over: no step is taken with it, and the next batch is
// tried. In fp16 the scale is then halved, down to 1; after 2000 steps in a row it is doubled. It begins at
// 2^32, as in Megatron-LM, and settles within the first batches. If the scale cannot be the cause, only a
// limited number of batches is passed over. Pure: all ranks judge the same norm and so agree.
#pragma once

#include <cstdint>

#include "common/model/spec.h"
#include "worker/checkpoint/loss_scaler_state.h"

namespace podium {

// How many batches may be passed over for another cause than the scale before training counts as diverged.
inline constexpr std::int64_t kMostNotFiniteInARow = 10;
inline constexpr std::int64_t kMostNotFinite = 100;

enum class StepVerdict {
  take,
  rescale,    // fp16 overflowed: discard the gradients and go on at half the scale
  pass_over,  // discard the gradients; no smaller scale would make them finite
  diverged,   // too many batches before had no finite gradients either
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
  void count_clean_step();

  bool dynamic_;
  LossScalerState state_;
};

}  // namespace podium
