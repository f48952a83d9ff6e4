// Runs that have reached their target, as rows of the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "coordinator/tracking/board.h"

namespace podium {

struct BoardRow {
  std::string identity;  // of the benchmark, JSON
  BoardRun run;
};

// A run with its origin.
struct BoardRunView {
  BoardRun run;
  std::string name;
  ExperimentId experiment;
  std::string file;    // of the experiment
  std::string spec;    // of the job, normalised, without `after` and the label reproduces
  std::string source;  // JSON or ""
  std::optional<std::int64_t> seed;
  int attempts = 1;  // until the target
  std::vector<std::string> nodes, versions;
  std::optional<JobId> reproduces;
};

}  // namespace podium
