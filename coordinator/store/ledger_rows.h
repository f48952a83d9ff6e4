// What a job's ledger is made of, from its rows, and its totals by day: stored for jobs that have ended, so
// that the ledgers of many are added up without making them.
#pragma once

#include "common/base/id.h"
#include "coordinator/store/sqlite.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

class LedgerRowsReader {
 public:
  explicit LedgerRowsReader(Database& database);

  // Empty for a job that is not there.
  LedgerRows read(JobId job);

 private:
  Statement job_, marks_, phases_;
};

class LedgerTotals {
 public:
  explicit LedgerTotals(Database& database);

  // Stores the totals of a few jobs that are open and have ended; false where there is none. The times of
  // tasks may come late: they open the job again.
  bool settle();

 private:
  void store(JobId job);

  Database& database_;
  LedgerRowsReader rows_;
  Statement next_, forget_, insert_, close_;
};

}  // namespace podium
