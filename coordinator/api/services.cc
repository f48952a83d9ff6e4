// The services that jobs serve: how far each is, and its end.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/service_url.h"
#include "coordinator/serving/service_keeper.h"

namespace podium {
namespace {

using nlohmann::json;

const ServiceStand* find_service(const std::vector<ServiceStand>& services, const std::string& name) {
  const auto found = std::ranges::find(services, name, &ServiceStand::name);
  return found == services.end() ? nullptr : &*found;
}

// Why it does not answer; "" where it does.
std::string why_replica_waits(const Api& api, const ReplicaStand& replica) {
  std::string reason = api.loop.waiting_reason(replica.job->id);
  return reason.empty() ? api.services.why_unready(replica) : reason;
}

json replica_json(const Api& api, const ReplicaStand& replica) {
  const Job& job = *replica.job;
  const bool told = replica.runs() && replica.health;
  const auto figure = [&](double value) { return told ? json(value) : json(nullptr); };
  return {{"job", job.id.value},
          {"experiment", job.experiment.value},
          {"attempt", job.attempt ? json(job.attempts) : json(nullptr)},
          {"node", job.attempt ? json(job.attempt->allocation.ranks.front().node.value) : json(nullptr)},
          {"state", to_string(job.state)},
          {"paused", job.paused},
          {"ready", replica.ready()},
          {"ready_since_ms",
           millis_or_null(job.attempt ? api.services.ready_since(job.attempt_id()) : std::nullopt)},
          {"queue_ms", figure(told ? replica.health->queue_ms : 0)},
          {"requests_per_second", figure(told ? replica.health->requests_per_second : 0)},
          {"in_flight", told ? json(replica.health->in_flight) : json(nullptr)},
          {"reason", why_replica_waits(api, replica)}};
}

std::string why_rolling(const Api& api, const ServiceStand& service, const ReplicaFailure* failure) {
  if (roll_of(service) == Roll::halted) {
    const std::string what = failure && failure->experiment == service.experiment
                                 ? "job " + to_string(failure->job) + " failed: " + failure->reason
                                 : "a replica has ended";
    return what + ", and none of experiment " + to_string(service.experiment) + " is active";
  }
  for (const ReplicaStand& replica : active_of(service.own)) {
    if (replica.ready()) continue;
    const std::string reason = why_replica_waits(api, replica);
    return "job " + to_string(replica.job->id) + " " + (reason.empty() ? "is not ready yet" : reason);
  }
  return "";
}

json roll_json(const Api& api, const ServiceStand& service, const ReplicaFailure* failure) {
  const Roll roll = roll_of(service);
  std::set<std::int64_t> from;
  for (const ReplicaStand& replica : active_of(service.earlier)) from.insert(replica.job->experiment.value);
  const std::string reason = roll == Roll::none ? "" : why_rolling(api, service, failure);
  return {{"state", to_string(roll)}, {"from", from}, {"reason", reason}};
}

json failure_json(const ReplicaFailure* failure) {
  if (!failure) return nullptr;
  return {{"job", failure->job.value},
          {"experiment", failure->experiment.value},
          {"reason", failure->reason},
          {"at_ms", to_millis(failure->at)}};
}

json service_json(const Api& api, const ServerRequest& request, const ServiceStand& service) {
  json replicas = json::array();
  int active = 0, ready = 0, in_flight = 0;
  double queue_ms = 0, per_second = 0;
  for (const auto* some : {&service.own, &service.earlier})
    for (const ReplicaStand& replica : *some) {
      replicas.push_back(replica_json(api, replica));
      active += replica.active() ? 1 : 0;
      if (!replica.ready()) continue;
      ++ready;
      queue_ms += replica.health->queue_ms;
      per_second += replica.health->requests_per_second;
      in_flight += replica.health->in_flight;
    }
  const ReplicaFailure* failure = api.services.failure(service.name);
  return {{"name", service.name},
          {"url", service_url(api, request, service.name)},
          {"experiment", service.experiment.value},
          {"min", service.replica.min},
          {"max", service.replica.max},
          {"queue_limit_ms", service.replica.queue.count()},
          {"active", active},
          {"ready", ready},
          {"in_flight", in_flight},
          {"requests_per_second", per_second},
          {"queue_ms", ready > 0 ? json(queue_ms / ready) : json(nullptr)},
          {"roll", roll_json(api, service, failure)},
          {"failure", failure_json(failure)},
          {"replicas", std::move(replicas)}};
}

}  // namespace

awaitable<ServerReply> get_services(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  json services = json::array();
  for (const ServiceStand& service : api.services.services())
    services.push_back(service_json(api, call.request, service));
  const json body{{"address", services_address(api, call.request)}, {"services", std::move(services)}};
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_service(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const std::vector<ServiceStand> services = api.services.services();
  const ServiceStand* service = find_service(services, call.path[0]);
  if (!service) co_return no_such(call, "service", call.path[0]);
  const json body = service_json(api, call.request, *service);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

// Its jobs drain: what they have accepted is answered.
awaitable<ServerReply> remove_service(Api& api, Call call) {
  if (auto refusal = refuse_body(call)) co_return std::move(*refusal);
  const std::vector<ServiceStand> services = api.services.services();
  const ServiceStand* service = find_service(services, call.path[0]);
  if (!service) co_return no_such(call, "service", call.path[0]);
  json jobs = json::array();
  std::vector<Command> commands = stop_service(*service);
  for (const Command& command : commands) jobs.push_back(std::get<CancelJob>(command).job.value);
  const std::vector<Errors> errors = co_await api.loop.run_each(std::move(commands));
  if (const Errors refused = hindrance(errors); !refused.empty()) co_return problem(refused, call.request.id);
  co_return json_reply(202, {{"name", call.path[0]}, {"jobs", std::move(jobs)}});
}

}  // namespace podium
