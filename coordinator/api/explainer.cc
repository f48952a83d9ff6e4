#include "coordinator/api/explainer.h"

#include <algorithm>

#include "common/base/units.h"
#include "common/spec/load.h"
#include "coordinator/api/json_views.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/forecast/start_forecast.h"

namespace podium {
namespace {

using nlohmann::json;

using Steady = std::chrono::steady_clock;

constexpr auto kOneForecast = std::chrono::seconds(6);    // may take so long
constexpr auto kAllForecasts = std::chrono::seconds(12);  // of one answer
constexpr auto kUnchanged = std::chrono::seconds(10);     // an answer is given again, if nothing changed
constexpr int kWorthKeeping = 5;                          // times what it cost, whatever changed
constexpr int kMostMoments = 100'000;                     // time is over before
constexpr std::size_t kMostAnswers = 256;
constexpr int kEndedJobs = 200;     // of each end, that the fractions of the walltime are learnt from
constexpr int kRunningJobs = 1000;  // whose steps are looked at

struct Forecast {
  WalltimeFractions fractions;
  std::size_t paced = 0;  // running jobs whose end is known by their steps
  StartRange start;
  std::vector<Sooner> sooner;
};

WalltimeFractions fractions_of_ended(Reader& reader) {
  std::vector<EndedRun> runs;
  for (const JobState end : {JobState::succeeded, JobState::failed}) {
    JobFilter ended;
    ended.states = {end};
    ended.scheduled = true;
    ended.limit = kEndedJobs;
    for (const JobView& job : reader.jobs(ended).jobs)
      runs.push_back({job.ran, job.request.walltime, end == JobState::succeeded});
  }
  return learn_fractions(runs);
}

Estimates estimates_from(Reader& reader, const ClusterState& state, Time now) {
  Estimates estimates{fractions_of_ended(reader), {}};
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

// Decides as the spec's own check does: tensor × pipeline must divide the devices, and the data-parallel
// copies must divide the batch.
MayAsk allowed_by(std::string spec) {
  return [spec = std::move(spec)](const JobRequest& request) {
    std::vector<Override> overrides{{"resources.devices", std::to_string(request.devices)},
                                    {"resources.per_node", std::to_string(request.per_node)}};
    if (request.within != Within::anywhere)
      overrides.push_back({"resources.within", std::string(to_string(request.within))});
    return load_experiment(spec, "spec", overrides).ok();
  };
}

// Gives up a forecast that takes too long, and those that wait behind it until their time is over.
std::function<bool(int)> stopwatch() {
  const Steady::time_point end = Steady::now() + kAllForecasts;
  return [end, begun = Steady::now()](int moments) mutable {
    const Steady::time_point now = Steady::now();
    if (moments == 0) begun = now;
    return now >= end || now - begun >= kOneForecast;
  };
}

Forecast forecast(Reader& reader, const ClusterState& state, JobId id, Time now) {
  const Estimates estimates = estimates_from(reader, state, now);
  ForecastBounds bounds;
  bounds.moments = kMostMoments;
  bounds.give_up = stopwatch();
  Forecast found{
      estimates.fractions, estimates.by_pace.size(), forecast_range(state, now, id, estimates, bounds), {}};
  found.sooner = starts_sooner(state, now, id, found.start, estimates,
                               allowed_by(reader.job_spec(id).value_or("")), bounds);
  return found;
}

std::optional<Time> reserved(const Plan& plan, JobId job) {
  const auto own = std::ranges::find(plan.reservations, job, &Reservation::job);
  return own == plan.reservations.end() ? std::nullopt : std::optional(own->at);
}

json start_json(const Forecast& found, const std::optional<Time>& reserved_at) {
  return {{"earliest_ms", millis_or_null(found.start.earliest)},
          {"expected_ms", millis_or_null(found.start.expected)},
          {"latest_ms", millis_or_null(found.start.latest)},
          {"reserved_ms", millis_or_null(reserved_at)},
          {"not_before_ms", millis_or_null(found.start.not_before)},
          {"note", found.start.note},
          {"basis",
           {{"expected_share", found.fractions.expected},
            {"earliest_share", found.fractions.earliest},
            {"ended_jobs", found.fractions.jobs},
            {"jobs_with_pace", found.paced}}}};
}

// What to write into the spec; null means to leave the key out. Nothing where the spec does not decide it.
json settings(const Sooner& sooner) {
  const JobRequest& request = sooner.request;
  if (sooner.change == "hold") return json::object();
  if (sooner.change == "after") return {{"after", nullptr}};
  if (sooner.change == "walltime") return {{"resources.walltime", format_duration(request.walltime)}};
  if (sooner.change == "priority") return {{"priority", request.priority}};
  if (sooner.change == "per_node") return {{"resources.per_node", request.per_node}};
  if (sooner.change == "nodes")
    return {{"resources.nodes", request.nodes.empty() ? json(nullptr) : json(request.nodes)}};
  if (sooner.change == "within")
    return {{"resources.within",
             request.within == Within::anywhere ? json(nullptr) : json(to_string(request.within))}};
  return {{"resources.devices", request.devices}, {"resources.per_node", request.per_node}};
}

json sooner_json(const Forecast& found) {
  json out = json::array();
  for (const Sooner& sooner : found.sooner)
    out.push_back({{"change", sooner.change},
                   {"set", settings(sooner)},
                   {"expected_ms", to_millis(sooner.at)},
                   {"backfill", sooner.backfill},
                   {"anew", sooner.anew},
                   {"sentence", sooner.sentence}});
  return out;
}

// Runs on a thread of the pool, over the state as it is there.
json explanation(Reader& reader, const ClusterState& state, JobId id, Time now) {
  json body{
      {"now_ms", to_millis(now)}, {"blockers", json::array()}, {"start", nullptr}, {"sooner", json::array()}};
  const Job* job = find_job(state, id);
  if (!job || job->state != JobState::queued) return body;  // it has just started
  const Plan plan = make_plan(state, now);
  for (const Blocker& blocker : blockers_of(state, plan, id, now))
    body["blockers"].push_back(blocker_json(blocker));
  const Forecast found = forecast(reader, state, id, now);
  body["start"] = start_json(found, reserved(plan, id));
  body["sooner"] = sooner_json(found);
  return body;
}

}  // namespace

Explainer::Explainer(boost::asio::any_io_executor executor, CommandLoop& loop, StateMirror& mirror,
                     WorkPool& pool)
    : loop_(loop), mirror_(mirror), pool_(pool), turns_(std::move(executor)) {}

const Explainer::Answer* Explainer::still_good(JobId job) const {
  const auto known = answers_.find(job);
  if (known == answers_.end()) return nullptr;
  const Answer& answer = known->second;
  const auto age = Steady::now() - answer.made;
  const bool unchanged = answer.epoch == loop_.state().epoch && age < kUnchanged;
  return unchanged || age < kWorthKeeping * answer.cost ? &answer : nullptr;
}

void Explainer::keep(JobId job, Answer answer) {
  if (answers_.size() >= kMostAnswers)
    answers_.erase(
        std::ranges::min_element(answers_, {}, [](const auto& known) { return known.second.made; }));
  answers_.insert_or_assign(job, std::move(answer));
}

boost::asio::awaitable<json> Explainer::explain(JobId job) {
  if (const Answer* known = still_good(job)) co_return known->body;
  if (asked_ >= kMostAsked) throw Busy("many forecasts are being made already; ask again soon");
  struct Asked {
    int& asked;
    explicit Asked(int& of) : asked(of) { ++asked; }
    ~Asked() { --asked; }
  } asked(asked_);
  const std::string lane = std::to_string(job.value % kAtOnce);
  const KeyLock::Guard turn = co_await turns_.acquire(lane);
  if (const Answer* known = still_good(job)) co_return known->body;
  const auto begun = Steady::now();
  const std::int64_t epoch = loop_.state().epoch;
  const auto look = [view = mirror_.view(), job, now = loop_.now()](Reader& reader) {
    const ClusterState state = view.look([](const ClusterState& current) { return current; });
    return explanation(reader, state, job, std::max(now, state.clock));
  };
  json body = co_await pool_.read(look);
  keep(job, {body, epoch, Steady::now(), Steady::now() - begun});
  co_return body;
}

}  // namespace podium
