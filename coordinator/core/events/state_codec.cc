// A whole ClusterState as JSON, for snapshots. Indexes are rebuilt on reading; what is not durable stays out.
#include <nlohmann/json.hpp>

#include "coordinator/core/events/grants.h"
#include "coordinator/core/events/keep_indexes.h"
#include "coordinator/core/events/names.h"
#include "coordinator/core/events/wire.h"
#include "coordinator/core/state/pools.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace wire;

constexpr int kSnapshotVersion = 1;

json task_json(const Task& task) {
  return {{"phase", to_string(task.phase)},
          {"pid", task.pid},
          {"listed", task.listed},
          {"staging", task.staging},
          {"exit", task.exit ? to_json(*task.exit) : json(nullptr)},
          {"missing_since_ms", time_json(task.missing_since)}};
}

Task task_from(const json& in) {
  Task task;
  task.phase = enum_value(kTaskPhases, in.at("phase").get<std::string>(), "phase");
  task.pid = in.at("pid");
  task.listed = in.value("listed", task.phase != TaskPhase::ordered);  // snapshots of before lack it
  task.staging = in.value("staging", false);
  if (!in.at("exit").is_null()) task.exit = task_exit_from_json(in.at("exit"));
  task.missing_since = optional_time_from(in.at("missing_since_ms"));
  return task;
}

json attempt_json(const Attempt& attempt) {
  json tasks = json::array();
  for (const Task& task : attempt.tasks) tasks.push_back(task_json(task));
  return {{"number", attempt.number},
          {"allocation", allocation_json(attempt.allocation)},
          {"tasks", std::move(tasks)},
          {"created_ms", to_millis(attempt.created)},
          {"started_ms", time_json(attempt.started)},
          {"first_checkpoint", attempt.first_checkpoint},
          {"stop", to_string(attempt.stop)},
          {"stopping_ms", time_json(attempt.stopping)},
          {"grace_ms", attempt.grace.count()},
          {"culprit", attempt.culprit ? json(*attempt.culprit) : json(nullptr)},
          {"blame", enum_name(kBlames, attempt.blame)},
          {"fenced", attempt.fenced},
          {"staged_ms", time_json(attempt.staged)}};
}

Attempt attempt_from(const json& in) {
  Attempt attempt;
  attempt.number = in.at("number");
  attempt.allocation = allocation_from(in.at("allocation"));
  for (const json& task : in.at("tasks")) attempt.tasks.push_back(task_from(task));
  attempt.created = time_from(in.at("created_ms"));
  attempt.started = optional_time_from(in.at("started_ms"));
  attempt.first_checkpoint = in.at("first_checkpoint");
  attempt.stop = enum_value(kStopCauses, in.at("stop").get<std::string>(), "stop");
  if (in.contains("stopping_ms"))
    attempt.stopping = optional_time_from(in.at("stopping_ms"));
  else if (attempt.stop != StopCause::none)  // from before it was kept
    attempt.stopping = attempt.created;
  attempt.grace = Duration{in.value("grace_ms", std::int64_t{kUsualGrace.count()})};
  if (!in.at("culprit").is_null()) attempt.culprit = in.at("culprit").get<int>();
  attempt.blame = enum_value(kBlames, in.at("blame").get<std::string>(), "blame");
  attempt.fenced = in.value("fenced", false);
  attempt.staging = static_cast<int>(std::ranges::count_if(attempt.tasks, &Task::staging));
  if (in.contains("staged_ms")) attempt.staged = optional_time_from(in.at("staged_ms"));
  return attempt;
}

json job_json(const Job& job) {
  return {{"id", job.id.value},
          {"experiment", job.experiment.value},
          {"request", request_json(job.request)},
          {"state", to_string(job.state)},
          {"submitted_ms", to_millis(job.submitted)},
          {"attempts", job.attempts},
          {"retries", retries_json(job.retries)},
          {"served_ms", job.served.count()},
          {"attained_ms", job.attained.count()},
          {"resize", job.resize ? resize_json(*job.resize) : json(nullptr)},
          {"checkpoint", job.checkpoint},
          {"saved_ms", time_json(job.saved)},
          {"not_before_ms", time_json(job.not_before)},
          {"avoid", nodes_json(job.avoid)},
          {"avoid_until_ms", time_json(job.avoid_until)},
          {"held", job.held},
          {"held_because", job.held_because},
          {"paused", job.paused},
          {"attempts_told", job.attempts_told},
          {"astray", job.astray},
          {"attempt", job.attempt ? attempt_json(*job.attempt) : json(nullptr)}};
}

Job job_record_from(const json& in) {
  Job job;
  job.id = job_from(in.at("id"));
  job.experiment = {in.at("experiment").get<std::int64_t>()};
  job.request = request_from(in.at("request"));
  job.state = job_state_from(in.at("state").get<std::string>());
  job.submitted = time_from(in.at("submitted_ms"));
  job.attempts = in.at("attempts");
  job.retries = retries_from(in.at("retries"));
  job.served =
      Duration(in.value("served_ms", std::int64_t{0}));  // snapshots from before it was kept have none
  job.attained = Duration(in.value("attained_ms", job.served.count() * job.request.devices));
  if (in.contains("resize") && !in.at("resize").is_null()) job.resize = resize_from(in.at("resize"));
  job.checkpoint = in.at("checkpoint");
  if (in.contains("saved_ms")) job.saved = optional_time_from(in.at("saved_ms"));
  job.not_before = optional_time_from(in.at("not_before_ms"));
  job.avoid = nodes_from(in.at("avoid"));
  if (in.contains("avoid_until_ms")) job.avoid_until = optional_time_from(in.at("avoid_until_ms"));
  job.held = in.value("held", false);
  job.held_because = in.value("held_because", "");
  job.paused = in.value("paused", false);
  job.attempts_told = in.value("attempts_told", 0);
  job.astray = in.value("astray", false);
  if (!in.at("attempt").is_null()) job.attempt = attempt_from(in.at("attempt"));
  return job;
}

json suspicions_json(const Node& node) {
  json out = json::array();
  for (const auto& [job, suspicion] : node.suspicions)
    out.push_back({{"job", job.value},
                   {"experiment", suspicion.experiment.value},
                   {"at_ms", to_millis(suspicion.at)},
                   {"what", suspicion.what},
                   {"confirmed", suspicion.confirmed}});
  return out;
}

std::map<JobId, Suspicion> suspicions_from(const json& in) {
  std::map<JobId, Suspicion> suspicions;
  for (const json& of : in)
    suspicions[job_from(of.at("job"))] = {{of.at("experiment").get<std::int64_t>()},
                                          time_from(of.at("at_ms")),
                                          of.at("what"),
                                          of.value("confirmed", false)};
  return suspicions;
}

json node_json(const Node& node) {
  json slots = json::array();
  for (const DeviceSlot& slot : node.devices)
    slots.push_back(
        {{"device", to_json(slot.device)}, {"holder", slot.holder ? json(slot.holder->value) : json()}});
  return {{"ordinal", node.ordinal},
          {"description", to_json(node.description)},
          {"former_boots", node.former_boots},
          {"devices", std::move(slots)},
          {"state", to_string(node.state)},
          {"heard_since_ms", to_millis(node.heard_since)},
          {"orders_version", node.orders_version},
          {"strays", node.strays},
          {"drain", node.drain ? drain_json(*node.drain) : json(nullptr)},
          {"reservation", node.reservation ? reservation_json(*node.reservation) : json(nullptr)},
          {"suspicions", suspicions_json(node)},
          {"operator_labels", node.operator_labels}};
}

Node node_from(const json& in) {
  Node node;
  node.description = node_description_from_json(in.at("description"));
  node.former_boots = in.value("former_boots", std::vector<std::string>{});
  for (const json& slot : in.at("devices")) {
    const json& holder = slot.at("holder");
    node.devices.push_back({device_from_json(slot.at("device")),
                            holder.is_null() ? std::nullopt : std::optional<JobId>(job_from(holder))});
  }
  node.state = node_state_from(in.at("state").get<std::string>());
  if (in.contains("heard_since_ms")) node.heard_since = time_from(in.at("heard_since_ms"));
  node.orders_version = in.at("orders_version");
  node.strays = in.at("strays");
  if (in.contains("drain") && !in.at("drain").is_null()) node.drain = drain_from(in.at("drain"));
  if (in.contains("reservation") && !in.at("reservation").is_null())
    node.reservation = reservation_from(in.at("reservation"));
  node.suspicions = suspicions_from(in.value("suspicions", json::array()));
  node.operator_labels = in.value("operator_labels", Labels{});
  return node;
}

json usage_json(const std::map<std::string, Usage>& usage) {
  json out = json::object();
  for (const auto& [kind, of] : usage)
    out[kind] = {{"devices", of.devices}, {"device_seconds", of.device_seconds}, {"at_ms", to_millis(of.at)}};
  return out;
}

std::map<std::string, Usage> usage_from(const json& in) {
  std::map<std::string, Usage> usage;
  for (const auto& [kind, of] : in.items())
    usage[kind] = {of.at("devices"), of.at("device_seconds"), time_from(of.at("at_ms"))};
  return usage;
}

json trial_json(JobId job, const Trial& trial) {
  json reports = json::object();
  for (const auto& [rung, report] : trial.reports) reports[std::to_string(rung)] = report_json(report);
  return {{"job", job.value},       {"rung", trial.rung}, {"reports", std::move(reports)},
          {"paused", trial.paused}, {"over", trial.over}, {"succeeded", trial.succeeded}};
}

Trial trial_from(const json& in) {
  Trial trial{in.at("rung"), {}, in.at("paused"), in.at("over"), in.at("succeeded")};
  for (const auto& [rung, report] : in.at("reports").items())
    trial.reports[std::stoi(rung)] = report_from(report);
  return trial;
}

json sweeps_json(const ClusterState& state) {
  json sweeps = json::array();
  for (const auto& [experiment, halving] : state.sweeps) {
    json trials = json::array();
    for (const auto& [job, trial] : halving.trials) trials.push_back(trial_json(job, trial));
    sweeps.push_back(
        {{"experiment", experiment.value}, {"rule", to_json(halving.rule)}, {"trials", std::move(trials)}});
  }
  return sweeps;
}

void read_sweeps(const json& in, ClusterState& state) {
  for (const json& entry : in) {
    Halving& halving = state.sweeps[{entry.at("experiment").get<std::int64_t>()}];
    halving.rule = asha_from_json(entry.at("rule"));
    for (const json& trial : entry.at("trials"))
      add_trial(halving, job_from(trial.at("job")), trial_from(trial));
  }
}

json account_json(const Account& account) {
  return {{"rules", rules_json(account.rules)},
          {"usage", usage_json(account.usage)},
          {"own", usage_json(account.own)}};
}

// For snapshots of versions in which a stopping attempt kept all its devices to its end.
void return_what_is_over(ClusterState& state) {
  for (const JobId id : state.indexes.leaving) {
    const Job& job = state.jobs.at(id);
    return_devices(state, job, *job.attempt->stopping);
  }
}

// For snapshots of versions without accounts: what jobs hold counts from now on.
void charge_running_jobs(ClusterState& state) {
  for (const auto& [id, job] : state.jobs)
    if (job.attempt) charge_account(state, job, job.attempt->allocation.devices(), job.attempt->created);
}

}  // namespace

json to_json(const ClusterState& state) {
  json accounts = json::object();
  for (const auto& [name, account] : state.accounts) accounts[name] = account_json(account);
  json nodes = json::array();
  for (const auto& [id, node] : state.nodes) nodes.push_back(node_json(node));
  json jobs = json::array();
  for (const auto& [id, job] : state.jobs) jobs.push_back(job_json(job));
  json skipped = json::array();
  for (const auto& [from, next] : state.skipped) skipped.push_back({from.value, next.value});
  return {{"v", kSnapshotVersion},
          {"skipped", std::move(skipped)},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)},
          {"accounts", std::move(accounts)},
          {"sweeps", sweeps_json(state)},
          {"next_job", state.next_job.value},
          {"next_experiment", state.next_experiment.value},
          {"attempts_created", state.attempts_created}};
}

ClusterState cluster_state_from_json(const json& in, const ClusterState& empty) {
  if (in.at("v") != kSnapshotVersion)
    throw std::invalid_argument("snapshot version must be " + std::to_string(kSnapshotVersion));
  ClusterState state = empty;
  for (const json& entry : in.at("nodes")) {
    Node node = node_from(entry);
    node.ordinal = entry.value("ordinal", state.nodes.size());
    if (node.ordinal >= state.indexes.node_ids.size()) state.indexes.node_ids.resize(node.ordinal + 1);
    state.indexes.node_ids[node.ordinal] = node.description.id;
    if (node.state != NodeState::lost) state.indexes.last_seen.insert({node.last_seen, node.description.id});
    enter_window(state, node);
    if (!node.suspicions.empty()) state.indexes.suspects.insert(node.description.id);
    node.place = state.indexes.fabric.place_of(labels_of(node));
    count_node(state, node);
    state.nodes.emplace(node.description.id, std::move(node));
  }
  for (const json& entry : in.at("jobs")) {
    Job job = job_record_from(entry);
    join_pool(state, job.request);
    enter_indexes(state, job);
    state.jobs.emplace(job.id, std::move(job));
  }
  if (!in.contains("accounts")) charge_running_jobs(state);
  const json accounts = in.value("accounts", json::object());
  for (const auto& [name, account] : accounts.items())
    state.accounts[name] = {rules_from(account.at("rules")), usage_from(account.at("usage")),
                            usage_from(account.at("own"))};
  read_sweeps(in.value("sweeps", json::array()), state);
  return_what_is_over(state);
  state.next_job = job_from(in.at("next_job"));
  for (const json& range : in.value("skipped", json::array()))
    state.skipped[job_from(range.at(0))] = job_from(range.at(1));
  state.next_experiment = {in.at("next_experiment").get<std::int64_t>()};
  state.attempts_created = in.at("attempts_created");
  return state;
}

}  // namespace podium
