// What a checkpoint keeps of the judge of steps (worker/train/loss_scaler.h).
#pragma once

#include <cstdint>

namespace podium {

struct LossScalerState {
  double scale = 1;
  std::int64_t clean_steps = 0;  // since the scale last changed
  std::int64_t skipped = 0;      // batches, from the first on
  std::int64_t not_finite = 0;   // of these, the ones that no smaller scale would have saved
  std::int64_t in_a_row = 0;     // of those, since the last step that was taken

  bool operator==(const LossScalerState&) const = default;
};

}  // namespace podium
