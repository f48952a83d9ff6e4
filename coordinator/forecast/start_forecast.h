// Forecasts when a waiting job will start, and which changes of its request would let it start sooner, on
// copies of the state. Pure. A call runs several forecasts, so call it on a worker thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/forecast/estimates.h"
#include "coordinator/forecast/virtual_cluster.h"

namespace podium {

// Bounds at which a forecast stops.
struct ForecastBounds {
  int moments = 4'000;  // each costs a plan: a millisecond or two where thousands of jobs wait
  // How many moments are simulated one by one. Beyond them the forecast leaps (VirtualCluster::step) by a
  // hundredth of the time looked ahead, but no more than a fiftieth of the average remaining run time: far
  // starts are known to about that precision.
  int exact = 500;
  Duration horizon = std::chrono::days(30);
  // Called before each moment, with the number of moments simulated; true stops the forecast.
  std::function<bool(int moments)> give_up = nullptr;
};

struct StartForecast {
  std::optional<Time> at;
  std::string without;   // where there is none: "does not start within 30d"
  Time looked_until;     // the job does not start until then
  bool gave_up = false;  // the forecast stopped there
};

StartForecast forecast_start(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                             Outlook outlook, const ForecastBounds& bounds = {});

// In ascending order. A time is absent where its forecast found none; `note` says why.
struct StartRange {
  std::optional<Time> earliest, expected, latest;
  std::optional<Time> not_before;  // where the forecast stopped: the job does not start before
  std::string note;
};

// Where the expected start is too far away to be found, the other two are not computed.
StartRange forecast_range(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                          const ForecastBounds& bounds = {});

// A request that differs in one thing and starts sooner.
struct Sooner {
  // One of devices, per_node, walltime, priority, nodes, within and after; or hold: the job is released and
  // its request stays.
  std::string change;
  JobRequest request;     // with the change
  Time at;                // its expected start
  bool backfill = false;  // it starts now, in a gap before a reservation
  bool anew = false;      // needs a new submission, which loses the waiting time
  std::string sentence;
};

// Whether the request is valid: the batch must divide evenly over its devices, for example.
using MayAsk = std::function<bool(const JobRequest&)>;

// The smallest change of each kind that helps; each is simulated with its cost. A waiting job can be released
// or get another priority; every other change cancels it and submits it again, behind jobs that have waited
// longer. `as_it_is`: the job's own forecast; changes that are not known to start the job earlier are left
// out. For a held job only its release is tried, and for a job that follows others only not waiting for them.
std::vector<Sooner> starts_sooner(const ClusterState& state, Time now, JobId job, const StartRange& as_it_is,
                                  const Estimates& estimates, const MayAsk& may_ask,
                                  const ForecastBounds& bounds = {});

}  // namespace podium
