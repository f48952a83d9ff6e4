// Rows of the marks from which ledgers are made (coordinator/tracking/ledger.h). Marks of the core's events
// and of waits are written with the turn; the phases that rank 0 of an attempt reports are written with the
// offset of its stream. A job whose marks have changed is open: its stored totals are missing or outdated.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "coordinator/core/events/events.h"
#include "coordinator/core/plan/wait_log.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

// For one attempt; later phases are `unknown` in the ledger.
inline constexpr int kMostPhaseMarks = 20'000;

struct MarkOfJob {
  JobId job;
  JobMark mark;
};

// The job's new place from this event on, if the event changes it.
std::optional<MarkOfJob> mark_of(const Event& event);

class LedgerMarks {
 public:
  explicit LedgerMarks(Database& database);

  void take(const Event& event);
  void take(const WaitMark& wait);
  void take(JobId job, const PhaseMark& mark);

  // The last recorded reason of each waiting job.
  std::map<JobId, std::string> waits();

 private:
  Database& database_;
  Statement insert_mark_, name_wait_, last_phase_, insert_phase_, open_;
};

}  // namespace podium
