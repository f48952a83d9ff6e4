#include "worker/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace podium {

std::int64_t warmup_steps(const ScheduleSpec& schedule) {
  const double steps =
      schedule.warmup < 1 ? schedule.warmup * static_cast<double>(schedule.steps) : schedule.warmup;
  return std::llround(steps);
}

double learning_rate(const ScheduleSpec& schedule, double peak, std::int64_t step) {
  const std::int64_t warmup = warmup_steps(schedule);
  if (step <= warmup) return peak * static_cast<double>(step) / static_cast<double>(warmup);

  const auto share = [](std::int64_t part, std::int64_t whole) {
    return std::clamp(static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1)), 0.0,
                      1.0);
  };
  const double decayed = share(step - warmup, schedule.steps - warmup);
  const double range = peak - schedule.min_lr;
  switch (schedule.decay) {
    case Decay::constant:
      return peak;
    case Decay::linear:
      return schedule.min_lr + range * (1 - decayed);
    case Decay::cosine:
      return schedule.min_lr + range * 0.5 * (1 + std::cos(std::numbers::pi * decayed));
    case Decay::poly:
      return schedule.min_lr + range * std::pow(1 - share(step, schedule.steps), schedule.power);
  }
  return peak;
}

}  // namespace podium
