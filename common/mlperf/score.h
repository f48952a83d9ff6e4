// The result that runs of a benchmark come to: the times from run_start to run_stop, of which the fastest and
// the slowest are left out and the others averaged. A single run that did not reach the target counts as the
// slowest; two make the result invalid (training_policies, "Benchmark Results"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/mlperf/check.h"

namespace podium::mlperf {

// What of its runs must be alike.
struct Measured {
  Benchmark benchmark = Benchmark::bert;
  Division division = Division::closed;
  std::string organisation, platform;
  std::int64_t global_batch = 0;
  std::int64_t devices = 0;  // lines of init_start: one a rank

  auto operator<=>(const Measured&) const = default;
};

struct Run {
  std::string file;
  Measured of;
  double seconds = 0;
  bool converged = false;              // with the status success, and an evaluation that reaches the target
  double quality = 0;                  // the value of that evaluation; of others that of the last
  double samples = 0;                  // at which it reached it, as the log counts them
  std::vector<Finding> findings = {};  // but those of its outcome
};

// Refused where the log has not what a run is made of.
Result<Run> run_of(const Log& log, const std::string& file, Round round);

struct Score {
  Measured of;
  std::vector<Run> runs;             // by time, those that did not converge last
  std::optional<double> seconds;     // nothing with fewer than three runs, or two that did not converge
  std::vector<std::string> reasons;  // why MLPerf would not take it; none: it would

  bool is_counted(std::size_t run) const { return seconds && run > 0 && run + 1 < runs.size(); }
};

// One of each kind of runs, sorted.
std::vector<Score> scores_of(std::vector<Run> runs);

}  // namespace podium::mlperf
