#include "coordinator/forecast/start_forecast.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/units.h"
#include "coordinator/core/state/time_text.h"

namespace podium {

namespace {

constexpr int kLeapParts = 100;  // of the time looked ahead
constexpr int kRunParts = 50;    // of what jobs still run on average

// The average remaining run time of the jobs of a kind; zero without jobs.
Duration mean_run(const ClusterState& state, const std::string& kind, const Estimates& estimates,
                  Outlook outlook, Time now) {
  Duration sum{};
  std::int64_t jobs = 0;
  for (const auto& [id, job] : state.jobs) {
    if (job.request.kind != kind) continue;
    sum += estimates.left(job, outlook, now);
    ++jobs;
  }
  return sum / std::max<std::int64_t>(jobs, 1);
}

// No known event lets the job start. Tasks that no order covers may end, too, at an unknown time.
std::string never_starts(const ClusterState& state) {
  std::string nodes;
  for (const auto& [id, node] : state.nodes)
    if (node.strays > 0) nodes += (nodes.empty() ? "" : ", ") + id.value;
  const std::string never = "does not start on the present nodes, whichever jobs end";
  return nodes.empty() ? never : never + ", before tasks of no job here have ended on " + nodes;
}

}  // namespace

StartForecast forecast_start(const ClusterState& state, Time now, JobId id, const Estimates& estimates,
                             Outlook outlook, const ForecastBounds& bounds) {
  const Duration longest_leap =
      mean_run(state, state.jobs.at(id).request.kind, estimates, outlook, now) / kRunParts;
  VirtualCluster cluster(state, now, [&](const Job& job) { return estimates.left(job, outlook, now); });
  const auto none = [&](std::string why, bool gave_up = false) {
    return StartForecast{std::nullopt, std::move(why), cluster.now(), gave_up};
  };
  for (int moments = 0;; ++moments) {
    const Job* job = find_job(cluster.state(), id);
    if (!job || job->state != JobState::queued) return {cluster.now(), "", cluster.now(), false};
    if (job->held) return none("does not start before it is released");
    if (job->paused)
      return none(job->request.replica ? "does not start before its service needs it"
                                       : "does not start before its sweep lets it go on");
    const std::optional<Time> next = cluster.next();
    if (!next) return none(never_starts(state));
    if (*next - now > bounds.horizon) return none("does not start within " + format_duration(bounds.horizon));
    if (moments == bounds.moments || (bounds.give_up && bounds.give_up(moments)))
      return none("does not start within the " + std::to_string(moments) +
                      " events that were simulated, up to " + time_text(cluster.now()) +
                      "; what comes after is not known",
                  true);
    const Duration far = (cluster.now() - now) / kLeapParts;
    cluster.step(moments < bounds.exact ? Duration{} : std::min(far, longest_leap));
  }
}

namespace {

std::string assuming(Outlook outlook) {
  switch (outlook) {
    case Outlook::latest:
      return "if every job takes all of its walltime, it ";
    case Outlook::expected:
      return "if jobs take what is to be expected, it ";
    case Outlook::earliest:
      return "if every job is as quick as the quickest tenth, it ";
  }
  PODIUM_CHECK(false, "unknown Outlook");
}

}  // namespace

StartRange forecast_range(const ClusterState& state, Time now, JobId job, const Estimates& estimates,
                          const ForecastBounds& bounds) {
  StartRange range;
  std::vector<Time> found;
  std::optional<Outlook> without;
  const auto ask = [&](Outlook outlook) {
    StartForecast forecast = forecast_start(state, now, job, estimates, outlook, bounds);
    if (forecast.at) found.push_back(*forecast.at);
    if (!forecast.at && !without) {
      without = outlook;
      range.note = std::move(forecast.without);
    }
    if (outlook == Outlook::expected && forecast.gave_up) range.not_before = forecast.looked_until;
    return forecast.at;
  };
  range.expected = ask(Outlook::expected);
  if (range.not_before) return range;
  range.earliest = ask(Outlook::earliest);
  range.latest = ask(Outlook::latest);
  // Next to a start that was found, the note is about one of the futures only.
  if (without && !found.empty()) range.note = assuming(*without) + range.note;
  // If all jobs end sooner, others may pass this one, so its start may be later.
  if (range.expected) {
    if (range.earliest) range.earliest = std::ranges::min(found);
    if (range.latest) range.latest = std::ranges::max(found);
  }
  return range;
}

}  // namespace podium
