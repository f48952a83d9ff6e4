// When a waiting job will start, and what it could ask for to start sooner: forecasts on copies of the state.
// Pure; a call runs a few whole forecasts, so it belongs on a worker thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/forecast/estimates.h"
#include "coordinator/forecast/virtual_cluster.h"

namespace podium {

// Where a forecast gives up.
struct ForecastBounds {
  int moments = 4'000;  // each costs a plan: a millisecond or two where thousands of jobs wait
  Duration horizon = std::chrono::days(30);
};

struct StartForecast {
  std::optional<Time> at;
  std::string without;  // where there is none: "does not start within 30d"
};

StartForecast forecast_start(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                             Outlook outlook, const ForecastBounds& bounds = {});

// Ordered; a time is absent where its forecast found none, and `note` then says why.
struct StartRange {
  std::optional<Time> earliest, expected, latest;
  std::string note;
};

StartRange forecast_range(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                          const ForecastBounds& bounds = {});

// A request that differs in one thing and starts sooner.
struct Sooner {
  std::string change;     // devices, walltime, priority or per_node
  JobRequest request;     // with the change
  Time at;                // its expected start
  bool backfill = false;  // it starts now, in a gap before a reservation
  std::string sentence;
};

// Whether the job may run on `devices`, `per_node` on each node: the batch must come out even, for example.
using MayRunOn = std::function<bool(int devices, int per_node)>;

// Each change by the least that helps. `expected` is when the job starts as it is, if ever.
std::vector<Sooner> starts_sooner(const ClusterState& state, Time now, JobId job,
                                  std::optional<Time> expected, const Estimates& estimates,
                                  const MayRunOn& may_run_on, const ForecastBounds& bounds = {});

}  // namespace podium
