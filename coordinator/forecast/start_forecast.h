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
  // Those that are lived through one by one. Beyond them it leaps (VirtualCluster::step) by a hundredth of
  // the time looked ahead, and no further than a fiftieth of what jobs still run on average: far starts are
  // known to about that part.
  int exact = 500;
  Duration horizon = std::chrono::days(30);
  // Asked before each moment, with the number of those lived through; whether to give up.
  std::function<bool(int moments)> give_up = nullptr;
};

struct StartForecast {
  std::optional<Time> at;
  std::string without;   // where there is none: "does not start within 30d"
  Time looked_until;     // up to then it does not start
  bool gave_up = false;  // what comes after is not known
};

StartForecast forecast_start(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                             Outlook outlook, const ForecastBounds& bounds = {});

// Ordered; a time is absent where its forecast found none, and `note` then says why.
struct StartRange {
  std::optional<Time> earliest, expected, latest;
  std::optional<Time> not_before;  // where the forecast gave up: what it found is that none starts before
  std::string note;
};

// Where the expected start is too far to be found, the others are not looked for.
StartRange forecast_range(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                          const ForecastBounds& bounds = {});

// A request that differs in one thing and starts sooner.
struct Sooner {
  // devices, per_node, walltime, priority, nodes, within or after; or hold, where the request is the same and
  // the job is released.
  std::string change;
  JobRequest request;     // with the change
  Time at;                // its expected start
  bool backfill = false;  // it starts now, in a gap before a reservation
  bool anew = false;      // no queued job can be changed so: submitted again, without the time it has waited
  std::string sentence;
};

// Whether the job may ask for that: the batch must come out even over its devices, for example.
using MayAsk = std::function<bool(const JobRequest&)>;

// Each change by the least that helps, and each lived through, with what it costs: a job that waits can be
// released and get another priority; for all else it is cancelled and submitted again, behind those that have
// waited longer. `as_it_is` is the job's own forecast: what is not known to start before that is not named. A
// held job is only told of its release, and one that follows others of what waiting for them costs.
std::vector<Sooner> starts_sooner(const ClusterState& state, Time now, JobId job, const StartRange& as_it_is,
                                  const Estimates& estimates, const MayAsk& may_ask,
                                  const ForecastBounds& bounds = {});

}  // namespace podium
