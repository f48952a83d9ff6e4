#include "worker/train/loss_scaler.h"

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

constexpr double kLargestScale = 4294967296;  // 2^32, the first too
constexpr double kLeastScale = 1;
constexpr std::int64_t kCleanSteps = 2000;  // before the scale grows

}  // namespace

LossScaler::LossScaler(Precision precision) : dynamic_(precision == Precision::fp16) {
  if (dynamic_) state_.scale = kLargestScale;
}

StepVerdict LossScaler::judge(double gradient_norm) {
  if (std::isfinite(gradient_norm)) {
    count_clean_step();
    return StepVerdict::take;
  }
  state_.clean_steps = 0;
  ++state_.skipped;
  if (state_.scale > kLeastScale) {
    state_.scale = std::max(state_.scale / 2, kLeastScale);
    return StepVerdict::rescale;
  }
  ++state_.not_finite;
  ++state_.in_a_row;
  const bool too_many = state_.in_a_row > kMostNotFiniteInARow || state_.not_finite > kMostNotFinite;
  return too_many ? StepVerdict::diverged : StepVerdict::pass_over;
}

void LossScaler::count_clean_step() {
  state_.in_a_row = 0;
  if (!dynamic_ || ++state_.clean_steps < kCleanSteps) return;
  state_.scale = std::min(state_.scale * 2, kLargestScale);
  state_.clean_steps = 0;
}

}  // namespace podium
