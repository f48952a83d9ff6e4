// apply(ClusterState&, Event): the job's own part is apply_to_job, which `handle` also uses on drafts; the
// rest keeps nodes and indexes in step. Every change of what node_orders() returns must bump that node's
// orders_version, no other.
#include <algorithm>

#include "common/base/check.h"
#include "coordinator/core/apply_job.h"
#include "coordinator/core/grants.h"
#include "coordinator/core/lifecycle.h"
#include "coordinator/core/policy.h"
#include "coordinator/core/pools.h"
#include "coordinator/core/suspicion.h"

namespace podium {
namespace {

Node& node_at(ClusterState& state, const NodeId& id) {
  const auto found = state.nodes.find(id);
  PODIUM_CHECK(found != state.nodes.end(), "an event names a node that never joined: " + id.value);
  return found->second;
}

// Every node that still has a task of the attempt sees it turn from run to stop.
void bump_live_nodes(ClusterState& state, const Attempt& attempt) {
  for (std::size_t rank = 0; rank < attempt.tasks.size(); ++rank)
    if (!attempt.tasks[rank].over()) ++node_at(state, attempt.allocation.ranks[rank].node).orders_version;
}

// An agent that starts again, with the same key.
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
  state.last_seen.erase({node.last_seen, id});
  node.last_seen = at;
  if (node.state != NodeState::lost) state.last_seen.insert({at, id});
}

// An agent that has no record of a task, or only one of before its node started, may be a copy of the node
// where it still runs.
bool saw_it_end(ExitCause cause) {
  return cause != ExitCause::no_record && cause != ExitCause::node_restarted;
}

// The last word that a plan waits for is a change, and so is the end of the wait for it.
void hear(ClusterState& state, const NodeId& id) {
  if (state.unheard.erase(id) > 0 && state.unheard.empty()) ++state.epoch;
}

void settle_labels(ClusterState& state, Node& node) {
  node.place = state.fabric.place_of(labels_of(node));
  count_node(state, node);
}

void apply_around_job(ClusterState& state, const Event& event, Job& job) {
  if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    judge_nodes(state, job, *ended, event.at);
    release_devices(state, job, event.at);
  }
  const bool stops =
      std::holds_alternative<AttemptStopping>(event.body) && job.attempt->stop == StopCause::none;
  if (stops) bump_live_nodes(state, *job.attempt);
  apply_to_job(job, event);
  if (stops) release_devices(state, job, event.at);
  if (std::holds_alternative<AttemptCreated>(event.body)) {
    ++state.attempts_created;
    take_devices(state, job, event.at);
  }
  const auto task_over = [&](TaskId task) {
    const auto rank = static_cast<std::size_t>(task.rank);
    ++node_at(state, job.attempt->allocation.ranks[rank].node).orders_version;
    if (!job.attempt->holds(rank)) release_device(state, job, rank, event.at);
  };
  if (const auto* exited = std::get_if<TaskExited>(&event.body)) task_over(exited->task);
  if (const auto* lost = std::get_if<TaskLost>(&event.body)) task_over(lost->task);
}

// Whether a job's event can change what a plan decides. What becomes of single tasks does not, nor how much
// work a job would lose: that counts when somebody next has to make room.
bool changes_plans(const Event& event, const Job& job) {
  if (job.request.elastic()) return true;  // a checkpoint or its age lets it grow
  if (const auto* changed = std::get_if<JobStateChanged>(&event.body))
    return changed->to != JobState::running || job.attempts > 1;  // may make room from then on
  return !std::holds_alternative<TaskStarted>(event.body) &&
         !std::holds_alternative<TaskExited>(event.body) && !std::holds_alternative<TaskMissed>(event.body) &&
         !std::holds_alternative<TaskFound>(event.body) && !std::holds_alternative<TaskLost>(event.body) &&
         !std::holds_alternative<TaskListed>(event.body) &&
         !std::holds_alternative<CheckpointNoted>(event.body);
}

void apply_to_existing_job(ClusterState& state, const Event& event, JobId id) {
  const auto found = state.jobs.find(id);
  PODIUM_CHECK(found != state.jobs.end(), "an event names a job that does not live: " + to_string(id));
  Job& job = found->second;
  if (changes_plans(event, job)) ++state.epoch;
  leave_indexes(state, job);
  apply_around_job(state, event, job);
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
  Job& job = state.jobs[recalled.job];
  job.id = recalled.job;
  job.experiment = recalled.experiment;
  job.request = recalled.request;
  job.state = recalled.from;
  job.submitted = at;  // it passes nobody who waited meanwhile
  job.attempts = recalled.attempts;
  job.astray = true;  // nobody remembers how its last attempt ended
  job.served = recalled.served;
  job.attained = recalled.attained;
  join_pool(state, job.request);
  enter_indexes(state, job);
}

bool runs_elastic(const Job& job) { return job.request.elastic() && job.state == JobState::running; }

struct ClusterApplier {
  ClusterState& state;
  Time at;

  void operator()(const ExperimentCreated& e) const {
    PODIUM_CHECK(e.experiment == state.next_experiment, "experiment ids are given in order");
    ++state.next_experiment.value;
  }
  void operator()(const JobQueued& e) const { queue_job(state, e, at); }
  void operator()(const JobRecalled& e) const { recall_job(state, e, at); }
  void operator()(const NodeJoined& e) const {
    Node& node = state.nodes[e.node.id];
    node.ordinal = state.node_ids.size();
    state.node_ids.push_back(e.node.id);
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
      state.last_seen.erase({node.last_seen, e.node});
    else
      state.last_seen.insert({node.last_seen, e.node});
    count_node(state, node);
  }
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
  void operator()(const SilenceForgiven&) const {
    ++state.epoch;  // the times that plans count on are long ago
    state.clock = at;
    state.unheard.clear();  // of an earlier start, whose reports are no events that are kept
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
    for (const NodeId& id : std::set(state.unheard))
      if (at - node_at(state, id).last_seen >= state.limits.unknown_after) hear(state, id);
  }
  template <class JobEvent>
  void operator()(const JobEvent&) const {
    PODIUM_CHECK(false, "job events are applied to their job");
  }
};

struct JobApplier {
  Job& job;
  Time at;

  Attempt& attempt(AttemptId id) const {
    PODIUM_CHECK(job.attempt && job.attempt_id() == id,
                 "an event is about the attempt that lives: " + to_string(id));
    return *job.attempt;
  }
  Task& task(TaskId id) const { return attempt(id.attempt).tasks.at(static_cast<std::size_t>(id.rank)); }

  void operator()(const AttemptCreated& e) const {
    PODIUM_CHECK(!job.attempt && e.attempt.number == job.newest_attempt() + 1, "attempts follow one another");
    job.attempts = e.attempt.number;
    job.not_before.reset();
    job.resize.reset();
    Attempt& created = job.attempt.emplace();
    created.number = e.attempt.number;
    created.allocation = e.allocation;
    created.tasks.resize(e.allocation.ranks.size());
    created.created = at;
    created.first_checkpoint = job.checkpoint;
    created.fenced = job.astray;
  }
  void operator()(const TaskListed& e) const { task(e.task).listed = true; }
  void operator()(const TaskStarted& e) const {
    task(e.task).listed = true;
    task(e.task).phase = TaskPhase::running;
    task(e.task).pid = e.pid;
    job.astray = false;
  }
  void operator()(const TaskExited& e) const {
    Attempt& now = attempt(e.task.attempt);
    end_task(e.task, TaskPhase::exited, e.exit);
    const Blame blame = blame_for(e.exit, now.stop != StopCause::none, job.request.command);
    if (blame <= now.blame) return;
    now.blame = blame;
    now.culprit = e.task.rank;
  }
  void operator()(const TaskMissed& e) const { task(e.task).missing_since = at; }
  void operator()(const TaskFound& e) const { task(e.task).missing_since.reset(); }
  void operator()(const TaskLost& e) const { end_task(e.task, TaskPhase::lost, TaskExit{-1, 0, e.reason}); }
  void operator()(const ResizePlanned& e) const {
    PODIUM_CHECK(job.devices() == e.resize.from, "a job is resized from the size it has");
    attempt(e.attempt);
    job.resize = e.resize;
  }
  void operator()(const AttemptStopping& e) const {
    Attempt& now = attempt(e.attempt);
    if (now.stop == StopCause::none) now.stopping = at;
    now.stop = e.cause;
    if (e.cause != StopCause::resized) job.resize.reset();
  }
  void operator()(const AttemptEnded& e) const {
    PODIUM_CHECK(std::ranges::all_of(attempt(e.attempt).tasks, &Task::over),
                 "an attempt ends after its tasks");
    if (const auto started = job.attempt->started) {
      job.served += at - *started;
      job.attained += (at - *started) * job.devices();
    }
    if (e.end != AttemptEnd::resized) job.resize.reset();
    job.astray |= std::ranges::any_of(job.attempt->tasks, [](const Task& task) {
      return task.phase == TaskPhase::lost || !saw_it_end(task.exit->cause);
    });
    job.attempt.reset();
  }
  void operator()(const RetryPlanned& e) const {
    job.retries = e.retries;
    job.not_before = e.not_before;
    job.avoid = e.avoid;
    job.avoid_until = e.avoid_until;
  }
  void operator()(const JobStateChanged& e) const {
    PODIUM_CHECK(job.state == e.from && may_follow(e.from, e.to),
                 "job " + to_string(job.id) + " cannot go from " + std::string(to_string(job.state)) +
                     " to " + std::string(to_string(e.to)));
    job.state = e.to;
    if (e.to == JobState::running) job.attempt->started = at;
  }
  void operator()(const JobHeld& e) const {
    job.held = true;
    job.held_because = e.reason;
    job.attempts_told = std::max(job.attempts_told, e.attempts);
    job.astray |= e.attempts > 0;  // and may run on a node that is silent
  }
  void operator()(const JobReleased&) const {
    job.held = false;
    job.held_because.clear();
    if (!job.attempt) job.resize.reset();  // it has lost its turn
  }
  void operator()(const JobPrioritised& e) const { job.request.priority = e.priority; }
  void operator()(const JobExtended& e) const { job.request.walltime = e.walltime; }
  void operator()(const DependencyMet& e) const {
    std::erase_if(job.request.after, [&](const Dependency& on) { return on.job == e.on; });
  }
  void operator()(const CheckpointNoted& e) const {
    job.checkpoint = e.step;
    job.saved = at;
    job.retries.fruitless = 0;
  }
  template <class Other>
  void operator()(const Other&) const {
    PODIUM_CHECK(false, "only events about a job that lives reach it");
  }

  void end_task(TaskId id, TaskPhase phase, const TaskExit& exit) const {
    Task& ended = task(id);
    PODIUM_CHECK(!ended.over(), "a task ends once: " + to_string(id));
    ended.phase = phase;
    ended.exit = exit;
    ended.missing_since.reset();
  }
};

}  // namespace

void leave_indexes(ClusterState& state, const Job& job) {
  if (job.in_line()) {
    const auto queue = state.queues.find(job.request.kind);
    const auto line = queue->second.find(line_key(job.request));
    line->second.erase(queue_key(state, job));
    if (line->second.empty()) queue->second.erase(line);
    if (queue->second.empty()) state.queues.erase(queue);
  }
  if (const auto timer = next_timer(job)) state.timers.erase({*timer, job.id});
  if (const auto deadline = next_deadline(job, state.limits)) state.deadlines.erase({*deadline, job.id});
  for (const Dependency& on : job.request.after) state.dependents.erase({on.job, job.id});
  state.leaving.erase(job.id);
  state.resizing.erase(job.id);
  if (!runs_elastic(job)) return;
  const auto elastic = state.elastic.find(job.request.kind);
  elastic->second.erase(job.id);
  if (elastic->second.empty()) state.elastic.erase(elastic);
}

void enter_indexes(ClusterState& state, const Job& job) {
  if (job.in_line()) state.queues[job.request.kind][line_key(job.request)].insert(queue_key(state, job));
  if (const auto timer = next_timer(job)) state.timers.insert({*timer, job.id});
  if (const auto deadline = next_deadline(job, state.limits)) state.deadlines.insert({*deadline, job.id});
  for (const Dependency& on : job.request.after) state.dependents.insert({on.job, job.id});
  if (job.attempt && job.attempt->stop != StopCause::none) state.leaving.insert(job.id);
  if (job.resize) state.resizing.insert(job.id);
  if (runs_elastic(job)) state.elastic[job.request.kind].insert(job.id);
  follow_running(state, job);
}

void enter_window(ClusterState& state, const Node& node) {
  if (node.has_windows())
    state.windows.insert(node.description.id);
  else
    state.windows.erase(node.description.id);
}

void apply_to_job(Job& job, const Event& event) { std::visit(JobApplier{job, event.at}, event.body); }

void apply(ClusterState& state, const Event& event) {
  const auto job = job_of(event);
  const bool enters =
      std::holds_alternative<JobQueued>(event.body) || std::holds_alternative<JobRecalled>(event.body);
  if (job && !enters)
    apply_to_existing_job(state, event, *job);
  else
    std::visit(ClusterApplier{state, event.at}, event.body);
}

void apply_all(ClusterState& state, const Events& events) {
  for (const Event& event : events) apply(state, event);
}

}  // namespace podium
