// The figures of one simulated run: how long jobs waited and took, and how well the devices were used. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/simulate/trace_file.h"
#include "coordinator/forecast/replay.h"

namespace podium::cli {

// Percentiles by nearest rank.
struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0;
};

struct GroupSummary {
  std::string name;
  std::size_t jobs = 0;  // that ended
  Spread waiting, completion;
};

struct Summary {
  std::size_t jobs = 0, succeeded = 0, failed = 0, refused = 0, unfinished = 0;
  std::int64_t devices = 0;
  std::int64_t preemptions = 0;
  double makespan = 0;                // seconds from the first submission to the last end
  double utilisation = 0;             // device time that jobs held, of all until the last end
  double utilisation_submitting = 0;  // the same until the last submission
  double idle_though_fitting = 0;     // device time idle while a waiting gang would fit in all idle devices
  double lost = 0;    // device time that jobs that succeeded ran beyond their work, of all held
  Spread waiting;     // seconds from submission to the first start, of jobs that ended
  Spread completion;  // seconds from submission to the end
  Spread slowdown;    // completion by duration, bounded: durations count as 10 s at least
  std::vector<GroupSummary> by_size;   // of the gang
  std::vector<GroupSummary> by_owner;  // account, or partition where the trace has no accounts
};

Summary summarise(const TraceFile& trace, const Replay& replay);

nlohmann::json to_json(const Summary& summary);

}  // namespace podium::cli
