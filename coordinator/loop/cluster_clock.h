// The cluster's time: it starts with the machine's wall clock and is steady from then on. Setting the
// machine's clock moves no walltime, lease or window: the cluster's time drifts towards the wall clock by a
// thousandth at most. It is never before the newest event of the log. Thread-safe.
#pragma once

#include <mutex>

#include "common/base/time.h"

namespace podium {

class ClusterClock final : public Clock {
 public:
  // `boot` never jumps. Both clocks must outlive this one.
  ClusterClock(const Clock& wall, const Clock& boot);

  // Keeps the cluster's time at or after `time`, which the log contains.
  void not_before(Time time);

  Time now() const override;

  // How far the cluster's time is ahead of the boot clock.
  Duration ahead() const;

 private:
  void follow(Time boot) const;

  const Clock& wall_;
  const Clock& boot_;
  mutable std::mutex mutex_;
  mutable Duration ahead_;    // of the boot clock
  mutable Time followed_;     // on the boot clock: the drift until then is in `ahead_`
  mutable Duration told_{0};  // of the wall clock's lead, in the log
};

}  // namespace podium
