#include "coordinator/loop/cluster_clock.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/base/units.h"

namespace podium {
namespace {

constexpr int kSlowness = 1000;  // it takes so long to catch up with a step
constexpr Duration kWorthTelling = std::chrono::seconds(1);

}  // namespace

ClusterClock::ClusterClock(const Clock& wall, const Clock& boot)
    : wall_(wall), boot_(boot), ahead_(wall.now() - boot.now()), followed_(boot.now()) {}

void ClusterClock::not_before(Time time) {
  const std::lock_guard lock(mutex_);
  ahead_ = std::max(ahead_, time - boot_.now());
}

Time ClusterClock::now() const {
  const std::lock_guard lock(mutex_);
  const Time boot = boot_.now();
  follow(boot);
  return boot + ahead_;
}

Duration ClusterClock::ahead() const {
  const std::lock_guard lock(mutex_);
  return ahead_;
}

void ClusterClock::follow(Time boot) const {
  const Duration lead = wall_.now() - (boot + ahead_);
  if (std::chrono::abs(lead - told_) > kWorthTelling) {
    told_ = lead;
    spdlog::warn(
        "this machine's clock is {} {} the cluster's time, which approaches it by a thousandth only; a "
        "restart of the coordinator takes the clock as it is",
        format_duration(std::chrono::abs(lead)), lead > Duration{0} ? "ahead of" : "behind");
  }
  const Duration most = (boot - followed_) / kSlowness;
  const Duration step = std::clamp(lead, -most, most);
  ahead_ += step;
  // The next look counts what is left of a thousandth of the time, unless there is nothing to follow.
  followed_ = step == lead ? boot : followed_ + most * kSlowness;
}

}  // namespace podium
