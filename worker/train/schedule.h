// The learning rate of every step. Pure.
//
// Steps count from 1. Warm-up rises linearly and reaches `peak` after W steps; a fraction of the run may end
// between two steps. Then, for step n of N:
//   constant  peak
//   linear    from peak to min_lr over (n - W) / (N - W)
//   cosine    half a wave from peak to min_lr over (n - W) / (N - W), as in Megatron
//   poly      min_lr + (peak - min_lr) (1 - n / N)^power: over the whole run, as in NVIDIA's LAMB recipe, so
//             the rate drops where warm-up ends
#pragma once

#include <cstdint>

#include "common/model/spec.h"

namespace podium {

double learning_rate(const ScheduleSpec& schedule, double peak, std::int64_t step);

}  // namespace podium
