// GET /queue: the jobs that wait, in the order in which the scheduler tries them, with what made the order;
// and apart from them the jobs that wait for something else than devices.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/accounts/fair_share_tree.h"
#include "coordinator/core/plan/start_order.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/core/policies/policy.h"

namespace podium {
namespace {

using nlohmann::json;

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double waited_seconds(const Job& job, Time now) { return std::max(in_seconds(now - job.submitted), 0.0); }

// The points of priority that the job gains by waiting.
json age_points(const ClusterState& state, const Job& job, Time now) {
  if (!policy_of(state.scheduling.policy).ages()) return nullptr;
  return waited_seconds(job, now) / in_seconds(state.scheduling.ageing);
}

// The points of priority that its walltime costs.
json walltime_points(const ClusterState& state, const Job& job) {
  if (!policy_of(state.scheduling.policy).ages()) return nullptr;
  const Duration weight = weight_of_walltime(state.scheduling, job.request.walltime);
  return in_seconds(weight) / in_seconds(state.scheduling.ageing);
}

// Orders the jobs of one account, the highest first.
json score_of(const json& age_points, const json& walltime_points, const Job& job) {
  if (age_points.is_null()) return nullptr;
  return job.request.priority + age_points.get<double>() - walltime_points.get<double>();
}

// Of the account and those above it, outermost first. At each level the account with the smallest factor goes
// first.
json factors_of(const ClusterState& state, const AccountLedger& ledger, const JobRequest& request, Time now) {
  if (!policy_of(state.scheduling.policy).by_account()) return nullptr;
  json factors = json::array();
  for (const std::string& account : lineage(request.account))
    factors.push_back(fair_share_factor(state, ledger, account, now));
  return factors;
}

// The fields that jobs in the queue and jobs apart from it share.
json waiting_json(const CommandLoop& loop, const Job& job, BlockerCode blocker, Time now) {
  return {{"job", job.id.value},
          {"name", job.request.name},
          {"account", job.request.account},
          {"devices", job.request.devices},
          {"sizes", job.request.sizes},
          {"per_node", job.request.per_node},
          {"walltime_seconds", in_seconds(job.request.walltime)},
          {"priority", job.request.priority},
          {"submitted_ms", to_millis(job.submitted)},
          {"waited_seconds", waited_seconds(job, now)},
          {"blocker", to_string(blocker)},
          {"reason", loop.waiting_reason(job.id)}};
}

json entry_json(const CommandLoop& loop, const AccountLedger& ledger, const QueuePlace& place, Time now) {
  const ClusterState& state = loop.state();
  const Plan& plan = loop.plan();
  const Job& job = state.jobs.at(place.job);
  const auto reservation = std::ranges::find(plan.reservations, place.job, &Reservation::job);
  const bool reserved = reservation != plan.reservations.end();
  const auto blocked = plan.blocked.find(place.job);
  json entry =
      waiting_json(loop, job, blocked == plan.blocked.end() ? BlockerCode::queue : blocked->second.code, now);
  entry["age_points"] = age_points(state, job, now);
  entry["walltime_points"] = walltime_points(state, job);
  entry["score"] = score_of(entry["age_points"], entry["walltime_points"], job);
  entry["account_factors"] = factors_of(state, ledger, job.request, now);
  entry["guaranteed_by"] = place.guaranteed_by ? json(*place.guaranteed_by) : json(nullptr);
  entry["rank"] = place.rank;
  entry["reserved_ms"] = reserved ? json(to_millis(reservation->at)) : json(nullptr);
  return entry;
}

json queue_json(const CommandLoop& loop, const std::string& kind, std::size_t limit, Time now) {
  const ClusterState& state = loop.state();
  StartOrder order(state, kind, now);
  const AccountLedger ledger(state, kind);
  json jobs = json::array();
  while (jobs.size() < limit) {
    const std::optional<QueuePlace> place = order.next();
    if (!place) break;
    json entry = entry_json(loop, ledger, *place, now);
    entry["position"] = jobs.size() + 1;
    jobs.push_back(std::move(entry));
  }
  return {{"kind", kind}, {"total", queue_size(state, kind)}, {"jobs", std::move(jobs)}};
}

// Jobs that are held, or that follow others; oldest first.
json apart_json(const CommandLoop& loop, const std::optional<std::string>& only, std::size_t limit,
                Time now) {
  json jobs = json::array();
  std::int64_t total = 0;
  for (const auto& [id, job] : loop.state().jobs) {
    if (job.state != JobState::queued || job.in_line() || (only && *only != job.request.kind)) continue;
    if (static_cast<std::size_t>(++total) > limit) continue;
    jobs.push_back(waiting_json(loop, job, blocker_apart(job), now));
    jobs.back()["kind"] = job.request.kind;
  }
  return {{"total", total}, {"jobs", std::move(jobs)}};
}

}  // namespace

awaitable<ServerReply> get_queue(Api& api, Call call) {
  const auto limit = static_cast<std::size_t>(call.query.integer_or("limit", 100, 1, 1000));
  const std::optional<std::string> only = call.query.text("kind");
  if (only && *only != "cpu" && *only != "gpu") call.query.refuse("kind", "must be cpu or gpu");
  if (!call.query.problems().empty()) co_return bad_query(call);
  const ClusterState& state = api.loop.state();
  const Time now = api.loop.now();
  json queues = json::array();
  for (const auto& [kind, queue] : state.indexes.queues)
    if (!only || *only == kind) queues.push_back(queue_json(api.loop, kind, limit, now));
  const json body{{"policy", policy_of(state.scheduling.policy).name()},
                  {"ageing_seconds", in_seconds(state.scheduling.ageing)},
                  {"walltime_weight", state.scheduling.walltime_weight},
                  {"walltime_points", state.scheduling.walltime_points},
                  {"queues", std::move(queues)},
                  {"apart", apart_json(api.loop, only, limit, now)}};
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
