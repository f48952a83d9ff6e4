// GET /jobs/{job}/why: what stands between a job and its start, when it is expected to start, and what would
// start it sooner. The forecasts run on the work pool, on a copy of the state.
#include "coordinator/core/why.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/spec/load.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/forecast/start_forecast.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kEndedJobs = 200;     // that the shares of the walltime are learnt from
constexpr int kRunningJobs = 1000;  // whose steps are looked at

struct Forecast {
  WalltimeShares shares;
  std::size_t paced = 0;  // running jobs whose end is known by their steps
  StartRange start;
  std::vector<Sooner> sooner;
};

WalltimeShares shares_of_ended(Reader& reader) {
  JobFilter ended;
  ended.states = {JobState::succeeded, JobState::failed, JobState::cancelled};
  ended.limit = kEndedJobs;
  std::vector<double> shares;
  for (const JobView& job : reader.jobs(ended).jobs)
    if (job.started && job.ended)
      shares.push_back(std::chrono::duration<double>(*job.ended - *job.started) / job.request.walltime);
  return learn_shares(std::move(shares));
}

Estimates estimates_from(Reader& reader, const ClusterState& state, Time now) {
  Estimates estimates{shares_of_ended(reader), {}};
  JobFilter running;
  running.states = {JobState::running};
  running.limit = kRunningJobs;
  for (const JobView& view : reader.jobs(running).jobs) {
    const Job* job = find_job(state, view.id);
    if (!job || !view.progress) continue;
    const StepsDone done{view.progress->step, view.progress->steps, view.progress->updated};
    if (const auto left = left_at_pace(*job, done, now)) estimates.by_pace[view.id] = *left;
  }
  return estimates;
}

// As the spec's own check sees it: tensor × pipeline must divide the devices, the data-parallel copies the
// batch.
MayRunOn allowed_by(std::string spec) {
  return [spec = std::move(spec)](int devices, int per_node) {
    return load_experiment(spec, "spec",
                           {{"resources.devices", std::to_string(devices)},
                            {"resources.per_node", std::to_string(per_node)}})
        .ok();
  };
}

Forecast forecast(Reader& reader, const ClusterState& state, JobId id, Time now) {
  const Estimates estimates = estimates_from(reader, state, now);
  Forecast found{estimates.shares, estimates.by_pace.size(), forecast_range(state, now, id, estimates), {}};
  found.sooner = starts_sooner(state, now, id, found.start.expected, estimates,
                               allowed_by(reader.job_spec(id).value_or("")));
  return found;
}

json millis(const std::optional<Time>& time) { return time ? json(to_millis(*time)) : json(nullptr); }

std::optional<Time> reserved(const Plan& plan, JobId job) {
  const auto own = std::ranges::find(plan.reservations, job, &Reservation::job);
  return own == plan.reservations.end() ? std::nullopt : std::optional(own->at);
}

json start_json(const Forecast& found, const std::optional<Time>& reserved_at) {
  return {{"earliest_ms", millis(found.start.earliest)},
          {"expected_ms", millis(found.start.expected)},
          {"latest_ms", millis(found.start.latest)},
          {"reserved_ms", millis(reserved_at)},
          {"note", found.start.note},
          {"basis",
           {{"expected_share", found.shares.expected},
            {"earliest_share", found.shares.earliest},
            {"ended_jobs", found.shares.jobs},
            {"jobs_with_pace", found.paced}}}};
}

// What to write into the spec.
json settings(const Sooner& sooner) {
  const JobRequest& request = sooner.request;
  if (sooner.change == "walltime") return {{"resources.walltime", format_duration(request.walltime)}};
  if (sooner.change == "priority") return {{"priority", request.priority}};
  if (sooner.change == "per_node") return {{"resources.per_node", request.per_node}};
  return {{"resources.devices", request.devices}, {"resources.per_node", request.per_node}};
}

json sooner_json(const Forecast& found) {
  json out = json::array();
  for (const Sooner& sooner : found.sooner)
    out.push_back({{"change", sooner.change},
                   {"set", settings(sooner)},
                   {"expected_ms", to_millis(sooner.at)},
                   {"backfill", sooner.backfill},
                   {"sentence", sooner.sentence}});
  return out;
}

}  // namespace

awaitable<ServerReply> get_why(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto view = co_await api.pool.read([id](Reader& reader) { return reader.job(*id); });
  if (!view) co_return no_such(call, "job", call.path[0]);

  const ClusterState& state = api.loop.state();
  const Job* job = find_job(state, *id);
  const Time now = std::max(api.loop.now(), state.clock);
  json body{{"job", id->value},         {"state", to_string(job ? job->state : view->state)},
            {"now_ms", to_millis(now)}, {"blockers", json::array()},
            {"start", nullptr},         {"sooner", json::array()}};
  if (job && job->state == JobState::queued) {
    for (const Blocker& blocker : blockers_of(state, api.loop.plan(), *id, now))
      body["blockers"].push_back(blocker_json(blocker));
    const auto reserved_at = reserved(api.loop.plan(), *id);
    const auto look_ahead = [copy = std::make_shared<const ClusterState>(state), id, now](Reader& reader) {
      return forecast(reader, *copy, *id, now);
    };
    const Forecast found = co_await api.pool.read(look_ahead);
    body["start"] = start_json(found, reserved_at);
    body["sooner"] = sooner_json(found);
  }
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
