// GET /metrics: the cluster and the scheduler as Prometheus metrics.
#include "common/net/prometheus_text.h"
#include "coordinator/api/account_figures.h"
#include "coordinator/api/operator_metrics.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/plan/start_order.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/serving/service_keeper.h"

namespace podium {
namespace {

// By label values, so that samples of a family stand together and in order.
using Counts = std::map<std::pair<std::string, std::string>, std::int64_t>;

void add_counts(PrometheusText& page, std::string_view first, std::string_view second, const Counts& counts) {
  for (const auto& [values, count] : counts)
    page.sample({{first, values.first}, {second, values.second}}, static_cast<double>(count));
}

std::string device_state(const Node& node, const DeviceSlot& slot) {
  if (slot.holder) return "held";
  if (!slot.device.health.empty()) return "unhealthy";
  return node.usable() ? "free" : "unavailable";
}

void add_devices(PrometheusText& page, const ClusterState& state) {
  Counts devices;
  std::map<std::string, std::int64_t> unhealthy;
  for (const auto& [id, node] : state.nodes)
    for (const DeviceSlot& slot : node.devices) {
      unhealthy[slot.device.kind] += slot.device.health.empty() ? 0 : 1;
      for (const char* zero : {"free", "held", "unavailable", "unhealthy"}) devices[{slot.device.kind, zero}];
      ++devices[{slot.device.kind, device_state(node, slot)}];
    }
  page.gauge("podium_devices", "Devices of all nodes, by kind and state.");
  add_counts(page, "kind", "state", devices);
  page.gauge("podium_unhealthy_devices",
             "Devices that get no new work, whether or not a job still holds them, by kind.");
  for (const auto& [kind, count] : unhealthy) page.sample({{"kind", kind}}, static_cast<double>(count));
}

// Errors are counted from the start of the driver or of the agent.
void describe_reading(PrometheusText& page, const ReadingField& field) {
  const std::string name = "podium_device_" + std::string(field.metric);
  if (field.metric.ends_with("_errors"))
    page.counter(name + "_total", field.help);
  else
    page.gauge(name, field.help);
}

// Counts nodes that are up: what a silent node said last is no measurement of now.
void add_readings(PrometheusText& page, const Api& api) {
  const ClusterState& state = api.loop.state();
  for (const ReadingField& field : kReadingFields) {
    bool described = false;
    for (const auto& [id, readings] : api.readings) {
      const Node* node = find_node(state, id);
      if (!node || node->state != NodeState::up) continue;
      for (const DeviceReading& reading : readings) {
        const std::optional<double>& value = reading.*field.value;
        if (!value) continue;
        if (!std::exchange(described, true)) describe_reading(page, field);
        page.sample({{"node", id.value}, {"device", std::to_string(reading.device)}}, *value);
      }
    }
  }
}

void add_jobs(PrometheusText& page, const ClusterState& state, const Plan& plan, const JobCounts& jobs) {
  page.gauge("podium_jobs", "Jobs on disk, by state.");
  for (const JobState job_state : kJobStates)
    page.sample({{"state", to_string(job_state)}}, static_cast<double>(jobs.of(job_state)));
  Counts waiting;  // those with a reservation stand before those without
  std::map<std::string, std::int64_t> wanted;
  for (const auto& [key, pool] : state.indexes.pools) {
    waiting[{key.kind, "reserved"}] = waiting[{key.kind, "waiting"}] = 0;
    wanted[key.kind] = 0;
  }
  for (const auto& [kind, queue] : state.indexes.queues)
    for (const auto& [line, keys] : queue) {
      waiting[{kind, "waiting"}] += std::ssize(keys);
      wanted[kind] += std::ssize(keys) * line.shape.devices;
    }
  for (const Reservation& reservation : plan.reservations) {
    const Job* job = find_job(state, reservation.job);
    if (!job || job->state != JobState::queued) continue;
    ++waiting[{job->request.kind, "reserved"}];
    --waiting[{job->request.kind, "waiting"}];
  }
  page.gauge("podium_queue_jobs", "Jobs in the queue, by kind of device and whether a start is reserved.");
  add_counts(page, "kind", "state", waiting);
  page.gauge("podium_queue_devices", "Devices that the jobs in the queue ask for, by kind.");
  for (const auto& [kind, devices] : wanted) page.sample({{"kind", kind}}, static_cast<double>(devices));
}

// Counts waiting jobs by what keeps them. Jobs that the plan did not reach wait behind others.
void add_blocked(PrometheusText& page, const ClusterState& state, const Plan& plan) {
  Counts blocked;
  std::int64_t held = 0;
  for (const auto& [kind, queue] : state.indexes.queues)
    blocked[{kind, std::string(to_string(BlockerCode::queue))}] = queue_size(state, kind);
  for (const auto& [id, job] : state.jobs) {
    held += job.held;
    if (job.state != JobState::queued || job.in_line()) continue;
    const BlockerCode code = blocker_apart(job);
    ++blocked[{job.request.kind, std::string(to_string(code))}];
  }
  for (const auto& [id, blocker] : plan.blocked) {
    const Job* job = find_job(state, id);
    if (!job || !job->in_line() || blocker.code == BlockerCode::queue) continue;
    ++blocked[{job->request.kind, std::string(to_string(blocker.code))}];
    --blocked[{job->request.kind, std::string(to_string(BlockerCode::queue))}];
  }
  page.gauge("podium_waiting_jobs", "Jobs that wait, by kind of device and what keeps them from starting.");
  add_counts(page, "kind", "blocker", blocked);
  page.gauge("podium_held_jobs",
             "Jobs that are held and do not start until they are released, running ones included.");
  page.sample({}, static_cast<double>(held));
}

using Figure = double (*)(const AccountFigures&);

void add_figure(PrometheusText& page, std::string_view name, std::string_view help,
                const AccountReport& report, Figure figure) {
  page.gauge(name, help);
  for (const auto& [account, by_kind] : report)
    for (const auto& [kind, figures] : by_kind)
      page.sample({{"account", account}, {"kind", kind}}, figure(figures));
}

void add_rule(PrometheusText& page, std::string_view name, std::string_view help, const ClusterState& state,
              std::map<std::string, int> AccountRules::*rule) {
  page.gauge(name, help);
  for (const auto& [account, known] : state.accounts)
    for (const auto& [kind, devices] : known.rules.*rule)
      page.sample({{"account", account}, {"kind", kind}}, devices);
}

void add_services(PrometheusText& page, const std::vector<ServiceStand>& services,
                  const std::map<std::pair<std::string, int>, std::uint64_t>& requests) {
  page.gauge("podium_service_replicas",
             "Replicas of a service: those that it needs now, and of these those that answer.");
  for (const ServiceStand& service : services) {
    std::size_t active = 0, ready = 0;
    for (const auto* replicas : {&service.own, &service.earlier}) {
      active += active_of(*replicas).size();
      ready += ready_of(*replicas).size();
    }
    page.sample({{"service", service.name}, {"state", "active"}}, static_cast<double>(active));
    page.sample({{"service", service.name}, {"state", "ready"}}, static_cast<double>(ready));
  }
  page.gauge("podium_service_min_replicas", "Fewest replicas that a service's spec asks for.");
  for (const ServiceStand& service : services) page.sample({{"service", service.name}}, service.replica.min);
  page.counter("podium_service_requests_total", "Requests for a service at the gateway, by status.");
  for (const auto& [key, count] : requests)
    page.sample({{"service", key.first}, {"status", std::to_string(key.second)}}, static_cast<double>(count));
  page.gauge("podium_service_requests_per_second",
             "Requests that the replicas of a service answer, of the last 10 s.");
  for (const ServiceStand& service : services) {
    double per_second = 0;
    for (const auto* replicas : {&service.own, &service.earlier})
      for (const ReplicaStand& replica : ready_of(*replicas))
        per_second += replica.health->requests_per_second;
    page.sample({{"service", service.name}}, per_second);
  }
}

// An account's figures include those of all accounts below it, so sum over one level of the tree only.
void add_accounts(PrometheusText& page, const ClusterState& state, const AccountReport& report) {
  add_figure(page, "podium_account_devices", "Devices that an account holds.", report,
             [](const AccountFigures& of) { return static_cast<double>(of.devices); });
  add_figure(page, "podium_account_borrowed_devices",
             "Devices that an account holds beyond quotas; accounts with quotas may reclaim them.", report,
             [](const AccountFigures& of) { return static_cast<double>(of.borrowed); });
  add_figure(page, "podium_account_used_device_seconds", "Device time that an account has used, decayed.",
             report, [](const AccountFigures& of) { return of.device_seconds; });
  add_figure(page, "podium_account_fair_share_factor",
             "Usage by share: among siblings the account with the smallest goes first.", report,
             [](const AccountFigures& of) { return of.factor; });
  add_figure(page, "podium_account_queue_jobs", "Jobs of an account in the queue.", report,
             [](const AccountFigures& of) { return static_cast<double>(of.waiting_jobs); });
  add_figure(page, "podium_account_queue_devices", "Devices that jobs of an account in the queue ask for.",
             report, [](const AccountFigures& of) { return static_cast<double>(of.waiting_devices); });
  add_rule(page, "podium_account_quota_devices", "Devices that an account is guaranteed.", state,
           &AccountRules::quota);
  add_rule(page, "podium_account_limit_devices", "Most devices that an account may hold.", state,
           &AccountRules::limit);
  page.gauge("podium_account_share", "An account's share, relative to its siblings.");
  for (const auto& [account, by_kind] : report)
    page.sample({{"account", account}}, rules_of(state, account).share);
}

void add_scheduler(PrometheusText& page, const LoopCounters& counters) {
  page.counter("podium_scheduler_starts_total", "Attempts started, in order or by backfill.");
  page.sample({{"by", "backfill"}}, static_cast<double>(counters.backfills));
  page.sample({{"by", "order"}}, static_cast<double>(counters.starts - counters.backfills));
  page.counter(
      "podium_scheduler_preemptions_total",
      "Attempts stopped for jobs of higher priority (preemption) or for jobs that a quota covers (reclaim).");
  for (const auto& [cause, count] : counters.preemptions)
    page.sample({{"reason", cause == PreemptionCause::reclaim ? "reclaim" : "priority"}},
                static_cast<double>(count));
  page.counter("podium_jobs_ended_total", "Jobs that have ended, by how.");
  for (const auto& [job_state, count] : counters.ends)
    page.sample({{"state", to_string(job_state)}}, static_cast<double>(count));
  page.counter("podium_scheduler_resizes_total", "Elastic jobs stopped to run on another number of devices.");
  page.sample({{"by", "growing"}}, static_cast<double>(counters.grown));
  page.sample({{"by", "shrinking"}}, static_cast<double>(counters.shrunk));
  page.histogram("podium_scheduler_pass_duration_seconds",
                 "Time of the scheduler's passes; each pass makes one plan.");
  page.sample({}, counters.plans);
  page.counter("podium_turns_total", "Commands the coordinator's loop has taken.");
  page.sample({}, static_cast<double>(counters.turns));
  page.counter("podium_events_total", "Events written to the log, by type.");
  for (const auto& [type, count] : counters.events) page.sample({{"type", type}}, static_cast<double>(count));
}

void add_requests(PrometheusText& page, const Api& api) {
  page.counter("podium_http_requests_total", "HTTP requests answered, by method and status.");
  for (const auto& [key, count] : api.requests)
    page.sample({{"method", key.first}, {"status", std::to_string(key.second)}}, static_cast<double>(count));
}

}  // namespace

// Scrapers may add parameters of their own.
awaitable<ServerReply> get_prometheus(Api& api, Call) {
  const AccountReport accounts = co_await account_figures(api);
  const std::shared_ptr<const StoredFigures> stored = co_await stored_figures(api);
  const std::vector<WebhookStatus> webhooks = co_await api.webhooks.status();
  PrometheusText page;
  add_node_states(page, api);
  add_devices(page, api.loop.state());
  add_readings(page, api);
  add_jobs(page, api.loop.state(), api.loop.plan(), api.counts);
  add_blocked(page, api.loop.state(), api.loop.plan());
  add_queue(page, api.loop.state(), api.loop.plan(), api.loop.now());
  add_accounts(page, api.loop.state(), accounts);
  add_services(page, api.services.services(), api.service_requests());
  add_scheduler(page, api.loop.counters());
  add_ledger(page, stored->ledger);
  add_records(page, *stored);
  add_webhooks(page, webhooks);
  add_damage(page, stored->damage);
  add_requests(page, api);
  add_process(page, api);
  co_await api.loop.durable();
  ServerReply reply;
  reply.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  reply.body = page.text();
  co_return reply;
}

}  // namespace podium
