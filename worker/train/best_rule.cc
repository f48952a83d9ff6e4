#include "worker/train/best_rule.h"

#include <algorithm>
#include <cmath>

namespace podium {

bool BestRule::take(const Metrics& metrics, std::int64_t step, BestCheckpoint& best) const {
  const auto found = std::ranges::find(metrics, metric, &Metrics::value_type::first);
  if (found == metrics.end() || !std::isfinite(found->second)) return false;
  const double value = found->second;
  if (best.known() && (goal == Goal::min ? value >= best.value : value <= best.value)) return false;
  best = {metric, step, value};
  return true;
}

}  // namespace podium
