// The rows from which a job's ledger is made, and its totals by day. Totals of ended jobs are stored, so that
// the ledgers of many jobs are added up without making each.
#pragma once

#include "common/base/id.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

class LedgerRowsReader {
 public:
  explicit LedgerRowsReader(Database& database);

  // Empty for an unknown job.
  LedgerRows read(JobId job);

 private:
  Statement job_, marks_, phases_;
};

class LedgerTotals {
 public:
  explicit LedgerTotals(Database& database);

  // Stores the totals of a few open jobs that have ended; false where there is none. Times of tasks that
  // arrive late open the job again.
  bool settle();

 private:
  void store(JobId job);

  Database& database_;
  LedgerRowsReader rows_;
  Statement next_, forget_, insert_, close_;
};

}  // namespace podium
