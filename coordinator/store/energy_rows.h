// The table `energy`: what was measured of an attempt, added up by the minute.
#pragma once

#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/energy.h"

namespace podium {

class EnergyRows {
 public:
  explicit EnergyRows(Database& database)
      : add_(database,
             "INSERT INTO energy (job, attempt, minute, from_ms, to_ms, joules, covered_ms, shared_ms)"
             " VALUES (?1, ?2, ?3 / 60000, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
             " from_ms = min(from_ms, excluded.from_ms), to_ms = max(to_ms, excluded.to_ms),"
             " joules = joules + excluded.joules, covered_ms = covered_ms + excluded.covered_ms,"
             " shared_ms = shared_ms + excluded.shared_ms") {}

  void add(const EnergyShare& share) {
    add_.run(share.attempt.job.value, int{share.attempt.number}, to_millis(share.from), to_millis(share.to),
             share.joules, share.covered_ms, share.shared_ms);
  }

 private:
  Statement add_;
};

}  // namespace podium
