#include "worker/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace podium {

double learning_rate(const ScheduleSpec& schedule, double peak, std::int64_t step) {
  const auto n = static_cast<double>(step);
  const auto steps = static_cast<double>(schedule.steps);
  const double warmup = schedule.warmup < 1 ? schedule.warmup * steps : schedule.warmup;
  if (n <= warmup) return peak * n / warmup;

  const auto share = [](double part, double whole) {
    return std::clamp(part / std::max(whole, 1.0), 0.0, 1.0);
  };
  const double decayed = share(n - warmup, steps - warmup);
  const double range = peak - schedule.min_lr;
  switch (schedule.decay) {
    case Decay::constant:
      return peak;
    case Decay::linear:
      return schedule.min_lr + range * (1 - decayed);
    case Decay::cosine:
      return schedule.min_lr + range * 0.5 * (1 + std::cos(std::numbers::pi * decayed));
    case Decay::poly:
      return schedule.min_lr + range * std::pow(1 - share(n, steps), schedule.power);
  }
  return peak;
}

}  // namespace podium
