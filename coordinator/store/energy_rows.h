// The table `energy`: the energy that an attempt's devices drew from its start to the end of each minute. The
// rows are running sums, so a reader needs one row, or the few around a time. Runs on the writer's thread.
#pragma once

#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/energy.h"

namespace podium {

// How many minutes up to a time give the exact energy until then: a report may reach into the minute after
// its own, and the sum of the two minutes before is needed.
inline constexpr int kMinutesAround = 3;
static_assert(EnergyMeter::kLongestGap <= std::chrono::minutes(1));

class EnergyRows {
 public:
  explicit EnergyRows(Database& database);

  void add(const DrawnEnergy& drawn);

  // Deletes a piece of the rows, no longer read, of jobs that ended a week ago: of each attempt all but the
  // last minute and the minutes around the time at which the job reached its target, or else its end. False
  // where there is none at present.
  bool thin(Time now);

 private:
  // The place of a job in the order of their ends.
  struct Place {
    std::int64_t ended_ms = -1;
    std::int64_t job = 0;
    std::int64_t reached_ms = 0;  // its target; else its end
  };

  bool next_job(std::int64_t until);
  bool thin_job();
  bool delete_between(int attempt, std::int64_t first, std::int64_t end);

  Database& database_;
  Statement add_, add_later_, next_job_, attempts_, last_, around_, delete_;
  Place place_;
  bool thinning_ = false;  // of place_.job there may be more
};

}  // namespace podium
