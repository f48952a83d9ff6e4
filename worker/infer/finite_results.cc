#include "worker/infer/finite_results.h"

#include <algorithm>
#include <cmath>

#include "worker/input/bad_data.h"

namespace podium {

bool all_finite(std::span<const float> results) {
  return std::ranges::all_of(results, [](float value) { return std::isfinite(value); });
}

void refuse_not_finite(const std::string& origin) {
  throw BadData(
      origin + ": the model's results are not finite: its weights are damaged, or too large for --precision");
}

}  // namespace podium
