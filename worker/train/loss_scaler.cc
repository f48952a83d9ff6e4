#include "worker/train/loss_scaler.h"

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

constexpr double kFirstScale = 65536;
constexpr double kLeastScale = 1;
constexpr double kLargestScale = 16777216;
constexpr std::int64_t kCleanSteps = 2000;  // before the scale grows

}  // namespace

LossScaler::LossScaler(Precision precision) : dynamic_(precision == Precision::fp16) {
  if (dynamic_) state_.scale = kFirstScale;
}

StepVerdict LossScaler::judge(double gradient_norm) {
  const bool finite = std::isfinite(gradient_norm);
  if (!dynamic_) return finite ? StepVerdict::take : StepVerdict::diverged;
  if (finite) {
    if (++state_.clean_steps == kCleanSteps) {
      state_.scale = std::min(state_.scale * 2, kLargestScale);
      state_.clean_steps = 0;
    }
    return StepVerdict::take;
  }
  if (state_.scale <= kLeastScale) return StepVerdict::diverged;
  state_.scale = std::max(state_.scale / 2, kLeastScale);
  state_.clean_steps = 0;
  ++state_.skipped;
  return StepVerdict::skip;
}

}  // namespace podium
