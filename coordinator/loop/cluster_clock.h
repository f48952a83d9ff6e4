// The cluster's time: the machine's wall clock when the coordinator started, and steady from then on. Whoever
// sets the machine's clock moves no walltime, no lease and no window with it: the cluster's time only drifts
// towards the wall clock, by a thousandth. Never before the newest event of the log. Safe from several
// threads.
#pragma once

#include <mutex>

#include "common/base/time.h"

namespace podium {

class ClusterClock final : public Clock {
 public:
  // `boot` never jumps; both outlive this.
  ClusterClock(const Clock& wall, const Clock& boot);

  // The log knows of this time: from now on it is past.
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
