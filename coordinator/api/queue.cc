// GET /queue: the jobs that wait, in the order in which the scheduler tries them, with what made the order.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/policy.h"
#include "coordinator/core/why.h"

namespace podium {
namespace {

using nlohmann::json;

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

json entry_json(const ClusterState& state, const Plan& plan, const QueueKey& key, Time now) {
  const Job& job = state.jobs.at(key.job);
  const auto reservation = std::ranges::find(plan.reservations, key.job, &Reservation::job);
  const bool reserved = reservation != plan.reservations.end();
  const auto blocked = plan.blocked.find(key.job);
  return {{"job", key.job.value},
          {"name", job.request.name},
          {"devices", job.request.devices},
          {"sizes", job.request.sizes},
          {"per_node", job.request.per_node},
          {"walltime_seconds", in_seconds(job.request.walltime)},
          {"priority", job.request.priority},
          {"submitted_ms", to_millis(job.submitted)},
          {"waited_seconds", std::max(in_seconds(now - job.submitted), 0.0)},
          {"rank", key.rank},
          {"reserved_ms", reserved ? json(to_millis(reservation->at)) : json(nullptr)},
          {"blocker", to_string(blocked == plan.blocked.end() ? BlockerCode::queue : blocked->second.code)},
          {"reason", waiting_reason(state, plan, key.job, now)}};
}

json queue_json(const ClusterState& state, const Plan& plan, const std::string& kind, std::size_t limit,
                Time now) {
  const std::vector<QueueKey> order = queue_order(state, kind);
  json jobs = json::array();
  for (std::size_t i = 0; i < std::min(order.size(), limit); ++i) {
    json entry = entry_json(state, plan, order[i], now);
    entry["position"] = i + 1;
    jobs.push_back(std::move(entry));
  }
  return {{"kind", kind}, {"total", order.size()}, {"jobs", std::move(jobs)}};
}

}  // namespace

awaitable<ServerReply> get_queue(Api& api, Call call) {
  const auto limit = static_cast<std::size_t>(call.query.integer_or("limit", 100, 1, 1000));
  const std::optional<std::string> only = call.query.text("kind");
  if (!call.query.problems().empty()) co_return bad_query(call);
  const ClusterState& state = api.loop.state();
  json queues = json::array();
  for (const auto& [kind, queue] : state.queues)
    if (!only || *only == kind)
      queues.push_back(queue_json(state, api.loop.plan(), kind, limit, api.loop.now()));
  const json body{{"policy", policy_of(state.scheduling.policy).name()},
                  {"ageing_seconds", in_seconds(state.scheduling.ageing)},
                  {"queues", std::move(queues)}};
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
