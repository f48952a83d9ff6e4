#include "common/net/retry.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {

std::chrono::milliseconds retry_delay(const RetryPolicy& policy, int failures, double jitter) {
  PODIUM_CHECK(failures >= 1, "nothing has failed yet");
  PODIUM_CHECK(jitter >= 0 && jitter < 1, "jitter must lie in [0, 1)");
  std::chrono::milliseconds delay = policy.first;
  for (int i = 1; i < failures && delay < policy.longest; ++i) delay *= 2;
  delay = std::min(delay, policy.longest);
  const auto half = delay / 2;
  return half + std::chrono::milliseconds(
                    static_cast<std::int64_t>(static_cast<double>((delay - half).count()) * jitter));
}

}  // namespace podium
