// By what a run's best checkpoint is told. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/model/asha.h"
#include "worker/checkpoint/manifest.h"
#include "worker/train/task.h"

namespace podium {

struct BestRule {
  std::string metric;
  Goal goal = Goal::min;

  // Whether an evaluation at `step` is better than `best`, which then becomes it. Equal is not better, and
  // what is not finite is never best.
  bool take(const Metrics& metrics, std::int64_t step, BestCheckpoint& best) const;
};

}  // namespace podium
