// The sums of many jobs' ledgers, as values: the answer to GET /ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

enum class LedgerBy { job, account, experiment, node, day };

struct LedgerFilter {
  LedgerBy by = LedgerBy::job;
  std::string account = {};  // and those below it; "": all
  std::optional<ExperimentId> experiment = {};
  std::optional<std::int64_t> first_day = {}, last_day = {};  // UTC, since 1970
};

struct LedgerRow {
  std::string key;   // "" for waits by node, which hold none
  std::string name;  // of a job or an experiment
  std::int64_t jobs = 0;
  LedgerSums sums;  // device milliseconds
};

struct LedgerTable {
  std::vector<LedgerRow> rows;  // by key
  LedgerRow all;
};

}  // namespace podium
