// The marks that the ledger (coordinator/tracking/ledger.h) is made of, as rows: those of the core's events
// and of what a waiting job waits for, written with the turn, and the phases that rank 0 of an attempt tells,
// written with the offset of its stream. A job whose marks have changed is open: its totals are not stored,
// or no longer true.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "coordinator/core/events/events.h"
#include "coordinator/core/plan/wait_log.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

// Of one attempt; what it tells beyond is `unknown` to the ledger.
inline constexpr int kMostPhaseMarks = 20'000;

struct MarkOfJob {
  JobId job;
  JobMark mark;
};

// Where the job is from this event on, if that is news.
std::optional<MarkOfJob> mark_of(const Event& event);

class LedgerMarks {
 public:
  explicit LedgerMarks(Database& database);

  void take(const Event& event);
  void take(const WaitMark& wait);
  void take(JobId job, const PhaseMark& mark);

  // What each job that waits was last said to wait for.
  std::map<JobId, std::string> waits();

 private:
  Database& database_;
  Statement insert_mark_, name_wait_, last_phase_, insert_phase_, open_;
};

}  // namespace podium
