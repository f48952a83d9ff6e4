// The learning rate of every step. Pure.
//
// Steps count from 1. Warm-up rises linearly and reaches `peak` at its last step. Then, with n of N steps and
// W of warm-up:
//   constant  peak
//   linear    from peak to min_lr over (n - W) / (N - W)
//   cosine    half a wave from peak to min_lr over (n - W) / (N - W)
//   poly      min_lr + (peak - min_lr) (1 - n / N)^power: over the whole run, as in NVIDIA's LAMB recipe
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

std::int64_t warmup_steps(const ScheduleSpec& schedule);
double learning_rate(const ScheduleSpec& schedule, double peak, std::int64_t step);

}  // namespace podium
