#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/base/logging.h"
#include "common/base/units.h"
#include "common/net/spawn.h"
#include "common/net/zstd.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/nodes/report_limits.h"
#include "coordinator/mlflow/run_id.h"
#include "coordinator/mlflow/run_token.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxUnpacked = 8 * 1024 * 1024;
constexpr std::size_t kSmallReport = 64 * 1024;

Result<NodeReport> parse_report(const std::string& body, const std::string& node) {
  try {
    NodeReport report = node_report_from_json(json::parse(body));
    if (Errors errors = check_report(report); !errors.empty()) return errors;
    if (report.node.id.value == node) return report;
    return Error{ErrorCode::invalid, "the report is of node \"" + report.node.id.value + "\"", "/node/id"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::invalid, std::string("malformed report: ") + error.what(), ""};
  }
}

// Stands in for a spec that cannot be read: a task that has yet to start does this instead. A task that runs
// goes on, and the node's other tasks get their orders.
JobSpec broken_spec(JobId job, const std::string& why) {
  spdlog::error("podium.db is damaged: the spec of job {} cannot be read: {}; submit the job again",
                to_string(job), why);
  JobSpec spec;
  spec.command = {"sh", "-c",
                  "echo the coordinator cannot read the spec of this job: submit it again >&2; exit 1"};
  return spec;
}

struct LaunchSpec {
  JobSpec spec;
  Time born;  // the first: an operator's requeue makes no other job of it
  RunTimes times = {};
  std::optional<CheckpointView> newest = {};  // of a program, which cannot look for it as a training does
};

LaunchSpec read_launch_spec(Reader& reader, JobId job) {
  try {
    const std::optional<SubmittedJob> row = reader.submitted(job);
    if (!row) return {broken_spec(job, "its row is missing"), {}};
    LaunchSpec known{job_spec_from_json(json::parse(row->spec)), row->at};
    if (known.spec.mlperf) known.times = reader.run_times(job);
    if (!known.spec.command.empty()) known.newest = reader.newest_checkpoint(job);
    return known;
  } catch (const json::exception& error) {
    return {broken_spec(job, error.what()), {}};
  } catch (const std::invalid_argument& error) {
    return {broken_spec(job, error.what()), {}};
  }
}

// A report of the usual size is parsed at once, so that one node's reports keep their order; a large one
// would hold up everybody.
awaitable<Result<NodeReport>> read_report(Api& api, const Call& call) {
  if (call.request.body.size() <= kSmallReport) co_return parse_report(call.request.body, call.path[0]);
  const auto parse = [body = call.request.body, node = call.path[0]] { return parse_report(body, node); };
  co_return co_await api.agents.run(parse);
}

std::map<JobId, LaunchSpec> read_launch_specs(Reader& reader, const std::set<JobId>& jobs) {
  std::map<JobId, LaunchSpec> specs;
  for (const JobId job : jobs) specs.emplace(job, read_launch_spec(reader, job));
  return specs;
}

// A task that is unknown here gets nothing added, even where another node has a task of its number.
bool was_given(const ClusterState& state, const NodeId& node, TaskId task) {
  const Job* job = find_job(state, task.attempt.job);
  return job && job->attempt_id() == task.attempt && find_task(*job->attempt, task.rank, node);
}

// Programs of users alone: a worker tells over its events.
void add_tracking(const ApiOptions& options, Launch& launch) {
  if (launch.spec.command.empty()) return;
  const JobId job = launch.task.attempt.job;
  launch.run_id = mlflow::run_id_of(job, options.cluster);
  launch.run_token = mlflow::run_token(job, options.cluster, options.run_key);
}

// Where nothing is shared, another node has not the log of the run's first attempt.
void add_times(const RunTimes& times, bool nothing_shared, LaunchClock& clock) {
  clock.steps = times.steps;
  if (!nothing_shared || !times.first_start) return;
  clock.first_start = times.first_start;
  clock.first_steps = times.first_steps;
}

// The node's orders, with everything that the core does not know added.
awaitable<NodeOrders> whole_orders(Api& api, NodeId node) {
  NodeOrders orders = node_orders(api.loop.state(), node);
  const bool nothing_shared = !api.loop.state().limits.shared;
  std::set<JobId> jobs;
  for (TaskOrder& order : orders.tasks) {
    const TaskId task = order.launch.task;
    if (!was_given(api.loop.state(), node, task)) continue;
    order.launch.secret = api.loop.secret(task.attempt);
    jobs.insert(task.attempt.job);
  }
  co_await api.loop.durable();
  if (jobs.empty()) co_return orders;
  const auto query = [jobs](Reader& reader) { return read_launch_specs(reader, jobs); };
  const auto specs = co_await api.agents.read(query);
  for (TaskOrder& order : orders.tasks) {
    if (order.launch.secret.empty()) continue;
    const LaunchSpec& known = specs.at(order.launch.task.attempt.job);
    order.born = known.born;
    order.launch.spec = known.spec;
    add_tracking(api.options, order.launch);
    if (known.spec.mlperf) add_times(known.times, nothing_shared, order.clock);
    if (known.newest) {
      order.launch.newest_checkpoint = known.newest->path;
      order.launch.newest_step = known.newest->step;
    }
    if (known.spec.processes == Processes::node) continue;
    order.launch.spec.resources.devices = order.launch.world_size;  // an elastic job's as this attempt has it
    order.launch.spec.resources.max_devices = 0;
  }
  co_return orders;
}

// Unpacks the body as its Content-Encoding says, and parses it.
Result<std::shared_ptr<StreamBatch>> unpack(Reader& reader, const NodeId& node, std::string body,
                                            const std::string& encoding) {
  const bool packed = !encoding.empty() && !equal_ignoring_case(encoding, "identity");
  Result<std::string> plain = packed ? zstd_decompress(body, kMaxUnpacked) : std::move(body);
  if (!plain) return plain.errors();
  Result<std::shared_ptr<StreamBatch>> streams = read_streams(node, std::move(plain).value());
  if (!streams) return streams;
  const std::vector<CheckpointSaved> saved =
      checkpoints_in(**streams, [&](TaskId task) { return reader.is_task_of(task, node); });
  (*streams)->for_core.assign(saved.begin(), saved.end());
  return streams;
}

// The jobs of these tasks that are trials whose sweep still decides.
RungWatches watches_of(const ClusterState& state, const StreamBatch& streams) {
  RungWatches watches;
  if (state.sweeps.empty()) return watches;
  for (const StreamChunk& chunk : streams.chunks) {
    const JobId job = chunk.task.attempt.job;
    if (is_output(chunk.stream) || watches.contains(job)) continue;
    if (RungWatch watch = rungs_to_watch(state, job); !watch.steps.empty())
      watches.emplace(job, std::move(watch));
  }
  return watches;
}

// What the trials of sweeps tell at their rungs.
awaitable<void> look_for_rungs(Api& api, std::shared_ptr<StreamBatch> streams) {
  RungWatches watches = watches_of(api.loop.state(), *streams);
  if (watches.empty()) co_return;
  const auto look = [streams, watches = std::move(watches)](Reader& reader) {
    return rungs_in(*streams, watches, [&](TaskId task) { return reader.is_task_of(task, streams->node); });
  };
  const std::vector<RungTold> told = co_await api.streams.read(look);
  streams->for_core.insert(streams->for_core.end(), told.begin(), told.end());
}

bool is_known_encoding(const std::string& encoding) {
  return encoding.empty() || equal_ignoring_case(encoding, "identity") ||
         equal_ignoring_case(encoding, "zstd");
}

// A body that cannot be read is malformed, not unprocessable.
ServerReply refuse_streams(const Errors& errors, const std::string& request_id) {
  if (errors.front().code == ErrorCode::invalid) return problem(400, describe(errors), request_id, errors);
  return problem(errors, request_id);
}

// Since this process started.
bool has_reported(const Api& api, const NodeId& node) { return api.readings.contains(node); }

// An agent that changed over to this coordinator unnoticed has not told it what has ended: an older copy of
// the database may have been restored meanwhile. Agents that send no cluster id keep no such list.
Errors refuse_unnoticed_start(const Api& api, const NodeReport& report) {
  if (report.interrupted || report.cluster.id.empty() || has_reported(api, report.node.id)) return {};
  return {{ErrorCode::unavailable,
           "the coordinator has started since this node's last report; mark the next report as interrupted, "
           "and list in it all that has ended on the node",
           "/interrupted"}};
}

bool tells_energy(const NodeReport& report) {
  return report.package_joules ||
         std::ranges::any_of(report.readings, [](const DeviceReading& r) { return r.power.has_value(); });
}

// The jobs that have held devices of the node up to now.
std::vector<HolderOnNode> holders_on(const ClusterState& state, const NodeId& id) {
  std::map<JobId, HolderOnNode> holders;
  const Node* node = find_node(state, id);
  if (!node) return {};
  for (const DeviceSlot& slot : node->devices) {
    const Job* job = slot.holder ? find_job(state, *slot.holder) : nullptr;
    if (!job || !job->attempt) continue;
    HolderOnNode& holder = holders[job->id];
    holder.attempt = job->attempt_id();
    holder.since = job->attempt->created;
    holder.kind = slot.device.kind;
    holder.devices.push_back(slot.device.index);
  }
  std::vector<HolderOnNode> list;
  for (auto& [job, holder] : holders) list.push_back(std::move(holder));
  return list;
}

constexpr auto kMeasuredTogether = std::chrono::seconds(1);

// Readings of all nodes are kept together, for each commit syncs the disk; a kill loses what has not been
// committed. None are kept on a disk that is nearly full: its room is for what cannot wait.
awaitable<void> keep_measured(Api& api) {
  boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, kMeasuredTogether);
  co_await pause.async_wait(boost::asio::use_awaitable);
  Commit commit;
  commit.energy = std::exchange(api.measured, {});
  if (!api.store.refusal()) api.store.commit(std::move(commit), [] {});
}

awaitable<void> keep_energy(Api& api, std::vector<DrawnEnergy> drawn) {
  const bool first = api.measured.empty() && !drawn.empty();
  std::ranges::move(drawn, std::back_inserter(api.measured));
  if (first) spawn(co_await boost::asio::this_coro::executor, "energy", keep_measured(api));
}

bool is_off(const Api& api, const NodeId& id) {
  const Node* node = find_node(api.loop.state(), id);
  return node && node->clock && node->clock->off();
}

void tell_clock(const Api& api, const NodeId& id, bool was_off) {
  if (was_off == is_off(api, id)) return;
  if (was_off) return spdlog::info("the clock of {} is right again", id.value);
  const Duration ahead = find_node(api.loop.state(), id)->clock->ahead;
  spdlog::warn(
      "the clock of {} is {} {}; the times that its tasks report are corrected by that; set the clock right",
      id.value, format_duration(std::chrono::abs(ahead)), ahead > Duration{0} ? "ahead" : "behind");
}

}  // namespace

awaitable<ServerReply> post_sync(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json", kLargestBody)) co_return std::move(*refusal);
  const Result<NodeReport> report = co_await read_report(api, call);
  if (!report) co_return problem(400, describe(report.errors()), call.request.id, report.errors());
  if (const Errors errors = refuse_unnoticed_start(api, *report); !errors.empty())
    co_return problem(errors, call.request.id);
  const bool was_off = is_off(api, report->node.id);
  const Time heard = api.loop.now();
  const std::vector<HolderOnNode> holders =
      tells_energy(*report) ? holders_on(api.loop.state(), report->node.id) : std::vector<HolderOnNode>{};
  const Command reported = NodeReported{*report};
  const Result<Events> taken = co_await api.loop.run(reported);
  if (!taken) co_return problem(taken.errors(), call.request.id);
  tell_clock(api, report->node.id, was_off);
  api.readings[report->node.id] = report->readings;
  std::vector<DrawnEnergy> drawn = api.energy.take(
      report->node.id, heard, {report->node.boot, report->readings, report->package_joules}, holders);
  co_await keep_energy(api, std::move(drawn));
  if (!report->interrupted) co_await api.long_polls.wait(report->node.id, report->orders_seen);
  NodeOrders orders = co_await whole_orders(api, report->node.id);
  orders.clock = api.loop.now();
  co_return json_reply(200, to_json(orders));
}

awaitable<ServerReply> post_streams(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/x-podium-streams", kLargestBody))
    co_return std::move(*refusal);
  const NodeId node{call.path[0]};
  if (!find_node(api.loop.state(), node)) co_return no_such(call, "node", node.value);
  if (!is_known_encoding(call.request.headers.get("Content-Encoding")))
    co_return problem(415, "Content-Encoding must be zstd or absent", call.request.id);
  auto read = [node, body = std::move(call.request.body),
               encoding = call.request.headers.get("Content-Encoding")](Reader& reader) mutable {
    return unpack(reader, node, std::move(body), encoding);
  };
  const Result<std::shared_ptr<StreamBatch>> streams = co_await api.streams.read(std::move(read));
  if (!streams) co_return refuse_streams(streams.errors(), call.request.id);
  co_await look_for_rungs(api, *streams);
  if (const auto refusal = api.store.refusal()) {
    api.loop.tell_core(**streams);  // else a job that saves would seem to make no headway
    co_return problem(507, refusal->message, call.request.id);
  }
  const Node* known = find_node(api.loop.state(), node);
  if (known && !has_reported(api, node)) {
    const Errors unheard{{ErrorCode::unavailable,
                          "the node has not reported since the coordinator started, so the error of its "
                          "clock is not known; send this again later",
                          ""}};
    co_return problem(unheard, call.request.id);
  }
  const Duration ahead = known && known->clock ? known->clock->ahead : Duration{0};
  (*streams)->clock = {api.loop.now(), ahead};
  if (const std::optional<Error> error = co_await api.loop.ingest(*streams)) {
    const Errors errors{*error};
    co_return problem(errors, call.request.id);
  }
  ServerReply reply;
  reply.headers.set("Content-Type", "application/json");
  reply.body = positions_to_json((*streams)->positions, (*streams)->notes);
  co_return reply;
}

}  // namespace podium
