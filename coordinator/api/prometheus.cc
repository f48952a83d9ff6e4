// GET /metrics: the cluster and the scheduler as Prometheus metrics.
#include "coordinator/api/prometheus_text.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

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

void add_nodes(PrometheusText& page, const ClusterState& state) {
  Counts devices;
  std::map<NodeState, int> nodes{{NodeState::up, 0}, {NodeState::unknown, 0}, {NodeState::lost, 0}};
  for (const auto& [id, node] : state.nodes) {
    ++nodes[node.state];
    for (const DeviceSlot& slot : node.devices) {
      for (const char* zero : {"free", "held", "unavailable", "unhealthy"}) devices[{slot.device.kind, zero}];
      ++devices[{slot.device.kind, device_state(node, slot)}];
    }
  }
  page.gauge("podium_nodes", "Nodes that have joined, by state.");
  for (const auto& [node_state, count] : nodes) page.sample({{"state", to_string(node_state)}}, count);
  page.gauge("podium_devices", "Devices of all nodes, by kind and state.");
  add_counts(page, "kind", "state", devices);
}

void add_jobs(PrometheusText& page, const ClusterState& state, const Plan& plan,
              const std::map<JobState, std::int64_t>& jobs) {
  page.gauge("podium_jobs", "Jobs on disk, by state.");
  for (const JobState job_state :
       {JobState::queued, JobState::starting, JobState::running, JobState::stopping, JobState::succeeded,
        JobState::failed, JobState::cancelled}) {
    const auto count = jobs.find(job_state);
    page.sample({{"state", to_string(job_state)}},
                count == jobs.end() ? 0 : static_cast<double>(count->second));
  }
  Counts waiting;  // those with a reservation stand before those without
  std::map<std::string, std::int64_t> wanted;
  for (const auto& [key, pool] : state.pools) {
    waiting[{key.kind, "reserved"}] = waiting[{key.kind, "waiting"}] = 0;
    wanted[key.kind] = 0;
  }
  for (const auto& [kind, queue] : state.queues)
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

void add_scheduler(PrometheusText& page, const LoopCounters& counters) {
  page.counter("podium_scheduler_starts_total", "Attempts started, by how their jobs came to their turn.");
  page.sample({{"by", "backfill"}}, static_cast<double>(counters.backfills));
  page.sample({{"by", "order"}}, static_cast<double>(counters.starts - counters.backfills));
  page.counter("podium_scheduler_preemptions_total", "Attempts stopped to make room for other jobs.");
  page.sample({}, static_cast<double>(counters.preemptions));
  page.counter("podium_scheduler_resizes_total", "Elastic jobs stopped to run on another number of devices.");
  page.sample({{"by", "growing"}}, static_cast<double>(counters.grown));
  page.sample({{"by", "shrinking"}}, static_cast<double>(counters.shrunk));
  page.histogram("podium_scheduler_pass_duration_seconds", "Time of each pass of the scheduler.",
                 counters.plans);
  page.counter("podium_turns_total", "Commands the coordinator's loop has taken.");
  page.sample({}, static_cast<double>(counters.turns));
  page.counter("podium_events_total", "Events written to the log, by type.");
  for (const auto& [type, count] : counters.events) page.sample({{"type", type}}, static_cast<double>(count));
}

void add_service(PrometheusText& page, const Api& api) {
  page.counter("podium_http_requests_total", "HTTP requests answered, by method and status.");
  for (const auto& [key, count] : api.requests)
    page.sample({{"method", key.first}, {"status", std::to_string(key.second)}}, static_cast<double>(count));
  page.gauge("podium_start_time_seconds", "When the coordinator started, in seconds since 1970.");
  page.sample({}, static_cast<double>(to_millis(api.started)) / 1000);
  page.gauge("podium_build_info", "Always 1.");
  page.sample({{"version", api.options.version}}, 1);
}

}  // namespace

awaitable<ServerReply> get_prometheus(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto jobs = co_await api.pool.read([](Reader& reader) { return reader.job_counts(); });
  PrometheusText page;
  add_nodes(page, api.loop.state());
  add_jobs(page, api.loop.state(), api.loop.plan(), jobs);
  add_scheduler(page, api.loop.counters());
  add_service(page, api);
  co_await api.loop.durable();
  ServerReply reply;
  reply.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  reply.body = page.text();
  co_return reply;
}

}  // namespace podium
