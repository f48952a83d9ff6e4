// apply(ClusterState&, Event). apply_to_job (apply_job.h) changes the job; this file updates nodes and
// indexes. Every change of what node_orders() returns must raise that node's version; while no task is
// withheld, nothing else may raise it.
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "coordinator/core/events/apply_job.h"
#include "coordinator/core/events/grants.h"
#include "coordinator/core/events/judge_nodes.h"
#include "coordinator/core/events/keep_indexes.h"
#include "coordinator/core/state/pools.h"

namespace podium {
namespace {

Node& node_at(ClusterState& state, const NodeId& id) {
  const auto found = state.nodes.find(id);
  PODIUM_CHECK(found != state.nodes.end(), "an event names a node that never joined: " + id.value);
  return found->second;
}

// The orders of every node with a live task of the attempt change from run to stop.
void bump_live_nodes(ClusterState& state, const Attempt& attempt) {
  for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank)
    if (!attempt.tasks[rank].over()) ++node_at(state, attempt.allocation.ranks[rank].node).orders_version;
}

// An agent that was restarted, with the same key.
void note_boot(Node& node, const NodeDescription& now) {
  constexpr std::size_t kFormerBoots = 8;
  if (node.description.key != now.key) node.former_boots.clear();
  if (node.description.key != now.key || node.description.boot == now.boot) return;
  std::erase(node.former_boots, now.boot);  // let in again after it was lost
  node.former_boots.push_back(node.description.boot);
  if (node.former_boots.size() > kFormerBoots) node.former_boots.erase(node.former_boots.begin());
}

void see(ClusterState& state, const NodeId& id, Time at) {
  Node& node = node_at(state, id);
  state.indexes.last_seen.erase({node.last_seen, id});
  node.last_seen = at;
  if (node.state != NodeState::lost) state.indexes.last_seen.insert({at, id});
}

// The last report that plans wait for is a change, and so is the end of the wait.
void hear(ClusterState& state, const NodeId& id) {
  if (state.unheard.erase(id) > 0 && !awaits_reports(state)) ++state.epoch;
}

void listen(ClusterState& state, std::optional<Time> until) {
  ++state.epoch;  // at a start for the times, too, that plans count on: they are long ago
  if (std::exchange(state.listens_until, until).has_value() == until.has_value()) return;
  for (const auto& [id, job] : state.jobs) {
    if (!job.attempt || job.attempt->stop != StopCause::none) continue;
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank)
      if (const Task& task = job.attempt->tasks[rank]; !task.over() && !task.listed)
        ++node_at(state, job.attempt->allocation.ranks[rank].node).withheld_version;
  }
}

// A database at its first start is not an older copy.
bool is_new(const ClusterName& cluster) { return cluster.generation == 1; }

void end_waits(ClusterState& state, Time at) {
  if (state.listens_until && *state.listens_until <= at) listen(state, {});
  for (const NodeId& id : std::set(state.unheard))
    if (at - node_at(state, id).last_seen >= state.limits.unknown_after) hear(state, id);
}

void settle_labels(ClusterState& state, Node& node) {
  node.place = state.indexes.fabric.place_of(labels_of(node));
  count_node(state, node);
}

// The place of a node that left is given to the next that joins.
std::size_t take_ordinal(std::vector<NodeId>& node_ids, const NodeId& id) {
  const auto place = std::ranges::find(node_ids, NodeId{});
  const auto ordinal = static_cast<std::size_t>(place - node_ids.begin());
  if (place == node_ids.end())
    node_ids.push_back(id);
  else
    *place = id;
  return ordinal;
}

void remove_node(ClusterState& state, const NodeId& id) {
  Node& node = node_at(state, id);
  PODIUM_CHECK(holders_of(node).empty(), "a node that leaves has no tasks: " + id.value);
  state.indexes.last_seen.erase({node.last_seen, id});
  state.indexes.suspects.erase(id);
  state.indexes.windows.erase(id);
  node.devices.clear();
  node.place = {};
  count_node(state, node);
  state.indexes.impaired.erase(node.ordinal);
  auto& node_ids = state.indexes.node_ids;
  node_ids[node.ordinal] = {};
  while (!node_ids.empty() && node_ids.back() == NodeId{}) node_ids.pop_back();
  hear(state, id);
  state.nodes.erase(id);
}

// The task whose orders the event may change.
const TaskId* task_told_of(const Event& event) {
  if (const auto* listed = std::get_if<TaskListed>(&event.body)) return &listed->task;
  if (const auto* started = std::get_if<TaskStarted>(&event.body)) return &started->task;
  if (const auto* exited = std::get_if<TaskExited>(&event.body)) return &exited->task;
  if (const auto* lost = std::get_if<TaskLost>(&event.body)) return &lost->task;
  return nullptr;
}

void apply_around_job(ClusterState& state, const Event& event, Job& job) {
  const TaskId* const task = task_told_of(event);
  const auto rank = static_cast<std::size_t>(task ? task->rank : 0);
  const bool was_withheld = task && is_withheld(state, *job.attempt, job.attempt->tasks[rank]);
  if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    judge_nodes(state, job, *ended, event.at);
    return_devices(state, job, event.at);
  }
  const bool stops =
      std::holds_alternative<AttemptStopping>(event.body) && job.attempt->stop == StopCause::none;
  if (stops) bump_live_nodes(state, *job.attempt);
  apply_to_job(job, event);
  if (stops) return_devices(state, job, event.at);
  if (std::holds_alternative<AttemptCreated>(event.body)) {
    ++state.attempts_created;
    grant_devices(state, job, event.at);
  }
  if (!task) return;
  const bool over = job.attempt->tasks[rank].over();
  Node& node = node_at(state, job.attempt->allocation.ranks[rank].node);
  if (over) ++node.orders_version;
  if (!over && was_withheld) ++node.withheld_version;
  if (over && !job.attempt->is_allocated(rank)) return_devices_of(state, job, rank, event.at);
}

// Whether an event of a job can change what a plan decides. Events of single tasks cannot, nor can the work
// that a job would lose, which counts only when room is made next.
bool changes_plans(const Event& event, const Job& job) {
  if (job.request.elastic()) return true;  // a checkpoint or its age lets it grow
  if (const auto* changed = std::get_if<JobStateChanged>(&event.body))
    return changed->to != JobState::running || job.attempts > 1;  // may make room from then on
  return !std::holds_alternative<TaskStarted>(event.body) &&
         !std::holds_alternative<TaskExited>(event.body) && !std::holds_alternative<TaskMissed>(event.body) &&
         !std::holds_alternative<TaskFound>(event.body) && !std::holds_alternative<TaskLost>(event.body) &&
         !std::holds_alternative<TaskListed>(event.body) &&
         !std::holds_alternative<TaskStaging>(event.body) &&
         !std::holds_alternative<CheckpointNoted>(event.body);
}

// A sweep without live trials has nothing more to decide.
void follow_sweep(ClusterState& state, ExperimentId experiment, const Event& event) {
  const auto sweep = state.sweeps.find(experiment);
  if (sweep == state.sweeps.end()) return;
  apply_to_sweep(sweep->second, event);
  if (!std::holds_alternative<JobStateChanged>(event.body)) return;
  if (sweep->second.over == sweep->second.trials.size()) state.sweeps.erase(sweep);
}

void apply_to_existing_job(ClusterState& state, const Event& event, JobId id) {
  const auto found = state.jobs.find(id);
  PODIUM_CHECK(found != state.jobs.end(), "an event names a job that does not live: " + to_string(id));
  Job& job = found->second;
  if (changes_plans(event, job)) ++state.epoch;
  leave_indexes(state, job);
  apply_around_job(state, event, job);
  follow_sweep(state, job.experiment, event);
  if (is_terminal(job.state)) {
    follow_running(state, job);
    leave_pool(state, job.request);
    state.jobs.erase(found);
  } else {
    enter_indexes(state, job);
  }
}

void set_drain(ClusterState& state, const NodeId& id, std::optional<Drain> drain) {
  Node& node = node_at(state, id);
  node.drain = std::move(drain);
  enter_window(state, node);
  count_node(state, node);
}

void set_reservation(ClusterState& state, const NodeId& id, std::optional<NodeReservation> reservation) {
  Node& node = node_at(state, id);
  node.reservation = std::move(reservation);
  enter_window(state, node);
  ++state.epoch;
}

void forgive_missing(Attempt& attempt, Time at) {
  for (Task& task : attempt.tasks)
    if (task.missing_since) task.missing_since = at;
}

void queue_job(ClusterState& state, const JobQueued& queued, Time at) {
  PODIUM_CHECK(queued.job == state.next_job, "job ids are given in order");
  Job& job = state.jobs[queued.job];
  job.id = queued.job;
  job.experiment = queued.experiment;
  job.request = queued.request;
  job.submitted = at;
  ++state.next_job.value;
  join_pool(state, job.request);
  enter_indexes(state, job);
  ++state.epoch;
}

void recall_job(ClusterState& state, const JobRecalled& recalled, Time at) {
  PODIUM_CHECK(recalled.job < state.next_job && !state.jobs.contains(recalled.job),
               "only a job that has ended is recalled");
  Job& job = state.jobs[recalled.job] = recalled_job(recalled, at);
  join_pool(state, job.request);
  enter_indexes(state, job);
}

struct ClusterApplier {
  ClusterState& state;
  Time at;

  void operator()(const ExperimentCreated& e) const {
    PODIUM_CHECK(e.experiment == state.next_experiment, "experiment ids are given in order");
    ++state.next_experiment.value;
  }
  void operator()(const JobQueued& e) const { queue_job(state, e, at); }
  void operator()(const RunTracked& e) const {
    PODIUM_CHECK(e.job == state.next_job, "job ids are given in order");
    PODIUM_CHECK(e.experiment < state.next_experiment, "a run belongs to an experiment");
    ++state.next_job.value;
  }
  void operator()(const JobRecalled& e) const { recall_job(state, e, at); }
  void operator()(const SweepBegun& e) const {
    Halving& halving = state.sweeps[e.experiment];
    halving.rule = e.rule;
    for (int i = 0; i < e.trials; ++i) add_trial(halving, {e.first.value + i}, {});
  }
  void operator()(const RungReached& e) const { follow_sweep(state, e.experiment, {at, e}); }
  void operator()(const NodeJoined& e) const {
    Node& node = state.nodes[e.node.id];
    node.ordinal = take_ordinal(state.indexes.node_ids, e.node.id);
    describe_node(node, e.node);
    node.heard_since = at;
    see(state, e.node.id, at);
    settle_labels(state, node);
  }
  void operator()(const NodeChanged& e) const {
    note_boot(node_at(state, e.node.id), e.node);
    describe_node(node_at(state, e.node.id), e.node);
    settle_labels(state, node_at(state, e.node.id));
  }
  void operator()(const NodeStateChanged& e) const {
    Node& node = node_at(state, e.node);
    node.state = e.to;
    if (e.to == NodeState::up) node.heard_since = at;
    if (e.to == NodeState::lost)
      state.indexes.last_seen.erase({node.last_seen, e.node});
    else
      state.indexes.last_seen.insert({node.last_seen, e.node});
    count_node(state, node);
  }
  void operator()(const NodeLeft& e) const { remove_node(state, e.node); }
  void operator()(const NodeStraysCounted& e) const {
    node_at(state, e.node).strays = e.strays;
    count_node(state, node_at(state, e.node));
  }
  void operator()(const NodeDrained& e) const { set_drain(state, e.node, e.drain); }
  void operator()(const NodeResumed& e) const {
    forgive_node(state, e.node);
    set_drain(state, e.node, std::nullopt);
  }
  void operator()(const NodeReserved& e) const { set_reservation(state, e.node, e.reservation); }
  void operator()(const NodeUnreserved& e) const { set_reservation(state, e.node, std::nullopt); }
  void operator()(const NodeLabelled& e) const {
    node_at(state, e.node).operator_labels = e.labels;
    settle_labels(state, node_at(state, e.node));
  }
  void operator()(const SilenceForgiven& e) const {
    state.clock = at;
    state.unheard.clear();  // of an earlier start, whose reports are no events that are kept
    const bool may_be_old = e.started && !state.limits.shared && !is_new(state.cluster);
    listen(state, may_be_old ? std::optional(at + lease::kReportWithin) : std::nullopt);
    for (auto& [id, node] : state.nodes) {
      see(state, id, at);
      node.heard_since = at;
      if (node.state != NodeState::lost) state.unheard.insert(id);
    }
    for (auto& [id, job] : state.jobs)
      if (job.attempt) forgive_missing(*job.attempt, at);
  }
  void operator()(const AccountChanged& e) const {
    state.accounts[e.account].rules = e.rules;
    ++state.epoch;
  }
  void operator()(const AccountDeleted& e) const {
    state.accounts.erase(e.account);
    ++state.epoch;
  }
  void operator()(const NodeSeen& e) const {
    see(state, e.node, at);
    hear(state, e.node);
    Node& node = node_at(state, e.node);
    node.clock = e.clock;
    if (node.unknown != e.unknown || node.stranger != e.stranger) ++node.orders_version;
    if (e.unknown.empty()) node.adopted.reset();
    node.unknown = e.unknown;
    node.stranger = e.stranger;
  }
  void operator()(const NodeAdopted& e) const {
    Node& node = node_at(state, e.node);
    node.adopted = e.stop;
    ++node.orders_version;
  }
  void operator()(const JobNumbersSkipped& e) const {
    PODIUM_CHECK(e.next > state.next_job, "numbers that were given cannot be skipped");
    state.skipped[state.next_job] = e.next;
    state.next_job = e.next;
  }
  void operator()(const Ticked&) const {
    state.clock = at;
    end_waits(state, at);
  }
  template <class JobEvent>
  void operator()(const JobEvent&) const {
    PODIUM_CHECK(false, "job events are applied to their job");
  }
};

}  // namespace

void apply(ClusterState& state, const Event& event) {
  const auto job = job_of(event);
  const bool enters =
      std::holds_alternative<JobQueued>(event.body) || std::holds_alternative<JobRecalled>(event.body);
  const bool may_have_ended = std::holds_alternative<RungReached>(event.body);
  const bool never_lives = std::holds_alternative<RunTracked>(event.body);
  if (job && !enters && !may_have_ended && !never_lives)
    apply_to_existing_job(state, event, *job);
  else
    std::visit(ClusterApplier{state, event.at}, event.body);
}

void apply_all(ClusterState& state, const Events& events) {
  for (const Event& event : events) apply(state, event);
}

}  // namespace podium
