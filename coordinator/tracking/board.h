// The record board: the best time-to-train of each benchmark on each kind and number of devices, and how it
// fell. Times count as MLPerf counts them: from the first start to the target, restarts and waits between
// included, never paused (MLPerf training rules, "Timing rules"). Pure.
//
// Runs of one benchmark share model, task, data, held-out data and target, those of classification also
// columns and labels; users' own programs share command and target. In everything else (precision, batch,
// optimizer, layout) runs compete.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/node.h"

namespace podium {

// "bert-large-pretrain-mlm_accuracy-7d0c2f41a9": readable, and the same for the same identity for ever.
// `identity`: as the view benchmark_runs has it (schemas/sql).
std::string benchmark_id(const nlohmann::json& identity);

// "bert-large pretrain, eval/mlm_accuracy at least 0.72"
std::string benchmark_name(const nlohmann::json& identity);

struct BoardRun {
  JobId job;
  std::vector<int> devices;                // distinct sizes of its attempts until the target, ascending
  std::vector<std::string> device_models;  // distinct, sorted
  bool artificial = false;                 // some of them were made up
  // Jobs that held devices of its nodes at the same time; none: not known.
  std::optional<std::vector<JobId>> shared_with;
  Time started, reached;
  std::vector<Duration> clock_steps = {};  // of the cluster's time within the run; forward above 0

  double seconds() const;
};

// Why a run sets no record, each a sentence; none where it may.
std::vector<std::string> exclusions(const BoardRun& run);

struct BoardRecord {
  JobId job;
  Time reached;
  double seconds = 0;
  std::optional<double> improvement;  // on the record before, as a fraction of it
};

// Runs on the same kind and number of devices.
struct BoardClass {
  std::string device;
  int devices = 1;
  std::vector<BoardRecord> records;  // oldest first; the last one holds
};

// By device, then number. Of runs that are equally fast the earlier holds the record.
std::vector<BoardClass> board_classes(const std::vector<BoardRun>& runs);

}  // namespace podium
