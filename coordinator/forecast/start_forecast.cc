#include "coordinator/forecast/start_forecast.h"

#include <algorithm>

#include "common/base/units.h"

namespace podium {

StartForecast forecast_start(const ClusterState& state, Time now, JobId id, const Estimates& estimates,
                             Outlook outlook, const ForecastBounds& bounds) {
  VirtualCluster cluster(state, now, [&](const Job& job) { return estimates.left(job, outlook, now); });
  for (int moments = 0;; ++moments) {
    const Job* job = find_job(cluster.state(), id);
    if (!job || job->state != JobState::queued) return {cluster.now(), ""};
    if (job->held) return {std::nullopt, "does not start before it is released"};
    const std::optional<Time> next = cluster.next();
    if (!next) return {std::nullopt, "does not start with the nodes there are, whatever ends"};
    if (*next - now > bounds.horizon)
      return {std::nullopt, "does not start within " + format_duration(bounds.horizon)};
    if (moments == bounds.moments)
      return {std::nullopt, "does not start within the " + std::to_string(bounds.moments) +
                                " moments that were looked ahead, up to " + format_time(cluster.now())};
    cluster.step();
  }
}

StartRange forecast_range(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                          const ForecastBounds& bounds) {
  std::vector<Time> found;
  StartRange range;
  const auto ask = [&](Outlook outlook) {
    StartForecast forecast = forecast_start(state, now, job, estimates, outlook, bounds);
    if (forecast.at) found.push_back(*forecast.at);
    if (!forecast.at && range.note.empty()) range.note = std::move(forecast.without);
    return forecast.at;
  };
  range.earliest = ask(Outlook::earliest);
  range.expected = ask(Outlook::expected);
  range.latest = ask(Outlook::latest);
  // Jobs that end sooner may let others pass this one: what is sooner for all may be later for one.
  if (range.expected) {
    if (range.earliest) range.earliest = std::ranges::min(found);
    if (range.latest) range.latest = std::ranges::max(found);
  }
  return range;
}

}  // namespace podium
