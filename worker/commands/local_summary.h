// The outcome of a local run, read from rank 0's events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "common/model/worker_event.h"

namespace podium {

struct LocalSummary {
  std::string status = "failed";  // succeeded, preempted, failed
  std::int64_t first_step = 0;    // training began after this step
  std::int64_t step = 0;
  std::int64_t steps = 0;  // 0: training has not begun
  std::int64_t parameters = 0;
  double seconds = 0;                     // from the first rank's start of training to its end
  std::map<std::string, double> metrics;  // the last value of each
  std::optional<TargetEvent> target;      // if it was reached
  std::string checkpoint;                 // the newest one's folder, absolute; "" if there is none
};

// Reads the events from byte `begin` on; events of earlier runs in the same folder lie before it.
LocalSummary summarise(const std::filesystem::path& events, std::int64_t begin,
                       const std::filesystem::path& checkpoints);

// Why the run failed: what the first of the ranks to fail could say. `begins`: from which byte on, by rank.
// "" where none could.
std::string first_failure(const std::filesystem::path& out_folder, const std::vector<std::int64_t>& begins);

// Of a rank, in the folder of the run.
std::filesystem::path events_of(const std::filesystem::path& out_folder, std::size_t rank);

nlohmann::json to_json(const LocalSummary& summary, const JobSpec& spec);
std::string summary_text(const LocalSummary& summary, const JobSpec& spec);

}  // namespace podium
