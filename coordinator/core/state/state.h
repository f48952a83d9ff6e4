// What the coordinator knows of the cluster: nodes, the jobs that have not ended, and indexes over both.
// Plain values. Only `apply` (events.h) writes them; everything here can be rebuilt by replaying the event
// log, but for `Node::last_seen`, `Node::clock` and `clock`, which are fresh after a restart. Jobs leave when
// they end: the store remembers them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/node.h"
#include "common/model/sync.h"
#include "coordinator/core/accounts/accounts.h"
#include "coordinator/core/state/fabric.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/running_jobs.h"
#include "coordinator/core/sweeps/halving.h"

namespace podium {

using Labels = std::map<std::string, std::string>;

// Where one rank runs. Ranks count by node, then by device index.
struct Placement {
  NodeId node;
  int device = 0;
  int local_rank = 0;
  int local_world_size = 1;
  int node_rank = 0;
  int threads = 0;  // that come with the device; 0: unknown
  // Further devices of the node that the rank drives: those of JobRequest::process_per_node.
  std::vector<int> more_devices = {};

  int devices() const { return 1 + static_cast<int>(more_devices.size()); }
  // body(device) for each.
  template <class Body>
  void each_device(const Body& body) const {
    body(device);
    for (const int another : more_devices) body(another);
  }
  bool operator==(const Placement&) const = default;
};

struct Allocation {
  std::vector<Placement> ranks;  // by rank
  int nodes = 0;
  std::string master_address;
  int master_port = 0;  // and the two above it are this attempt's alone

  int devices() const;
  bool operator==(const Allocation&) const = default;
};

//   ordered → running → exited | lost       (a task may skip running; lost: its exit will never be known)
enum class TaskPhase { ordered, running, exited, lost };

struct Task {
  TaskPhase phase = TaskPhase::ordered;
  std::int64_t pid = 0;
  bool listed = false;                // its node's agent has reported it: from then on it is never started
  std::optional<TaskExit> exit;       // when exited; when lost, only its message says something
  std::optional<Time> missing_since;  // it ran, and its node reports, but does not list it

  bool over() const { return phase == TaskPhase::exited || phase == TaskPhase::lost; }
  bool operator==(const Task&) const = default;
};

// Why the tasks of an attempt are being stopped.
enum class StopCause {
  none,
  task_failed,
  node_lost,
  preempted,
  cancelled,
  walltime,
  requeued,
  resized,
  paused,      // by its sweep
  not_started  // a node did not begin with its part in time
};

// How surely a task's exit is the root cause of its attempt's failure; between equals the first to arrive.
// A task that was told to stop and left by SIGTERM is hardly guilty; one that had to be killed may have hung;
// one that lost a peer is a victim, but the best there is when nobody else failed. A task that was taken from
// its job, by its agent, its node or a SIGTERM of no order, excuses the job from whatever else its ranks did;
// one that saved and left without an order does too, but often because another was told to.
enum class Blame { none, stopped, peer_lost, killed, failed, left, taken };

struct Attempt {
  int number = 0;
  Allocation allocation;
  std::vector<Task> tasks;  // by rank
  Time created;
  std::optional<Time> started;         // all tasks ran
  std::int64_t first_checkpoint = -1;  // the job's newest checkpoint when this attempt was created
  StopCause stop = StopCause::none;
  std::optional<Time> stopping;  // since when it is being stopped
  std::optional<int> culprit;    // the rank to blame if this attempt fails
  Blame blame = Blame::none;     // and how surely
  bool fenced = false;           // a task of an older attempt may still run: starts behind a fence

  // Whether the rank's devices are its job's: one that is being stopped gives its devices back task by task.
  bool holds(std::size_t rank) const { return stop == StopCause::none || !tasks[rank].over(); }
  bool operator==(const Attempt&) const = default;
};

// Retries are counted apart, each against its own budget; see lifecycle.h.
struct RetryCounts {
  int failures = 0;   // against JobRequest::max_restarts
  int requeues = 0;   // the task asked to be started again
  int moves = 0;      // the task asked for other hardware
  int losses = 0;     // nodes lost
  int fruitless = 0;  // failed attempts in a row that left no newer checkpoint
  int quick = 0;      // failed attempts in a row that ended soon after they began

  bool operator==(const RetryCounts&) const = default;
};

// An elastic job on its way to another size: its attempt is stopped for it, and it starts again before any
// other job, on devices that are kept for it meanwhile (elastic.h).
struct Resize {
  int from = 0, to = 0;                // devices
  std::map<NodeId, int> kept = {};     // devices by node, `to` together
  std::optional<JobId> room_for = {};  // the waiting job that it shrinks for

  bool grows() const { return to > from; }
  bool operator==(const Resize&) const = default;
};

struct Job {
  JobId id;
  ExperimentId experiment;
  JobRequest request;
  JobState state = JobState::queued;
  Time submitted;  // its age; kept over restarts
  int attempts = 0;
  RetryCounts retries;
  Duration served{};                // that its ended attempts ran
  Duration attained{};              // device time of these
  std::int64_t checkpoint = -1;     // step of its newest checkpoint
  std::optional<Time> saved;        // when the core learnt of that checkpoint
  std::optional<Time> not_before;   // queued, but backing off
  std::vector<NodeId> avoid;        // nodes that failed it
  std::optional<Time> avoid_until;  // when these are forgiven
  std::optional<Attempt> attempt;   // while starting, running or stopping
  std::optional<Resize> resize;     // until it has started with its new size
  bool held = false;                // does not start until it is released
  std::string held_because;         // "": an operator wishes it
  bool paused = false;              // by its sweep: does not start until it is promoted
  int attempts_told = 0;            // the newest that nodes told of and a restored database did not know
  bool astray = false;              // a task of an ended attempt was lost, and none has started since

  bool avoids(Time now) const { return !avoid.empty() && avoid_until && now < *avoid_until; }
  // Whether it may start as soon as there is room.
  bool in_line() const { return state == JobState::queued && !held && !paused && request.after.empty(); }
  // That its attempt was given; of a job without one, the fewest it may start on.
  int devices() const { return attempt ? attempt->allocation.devices() : request.devices; }
  // Of these, those that are still its own.
  int held_devices() const;
  AttemptId attempt_id() const { return {id, attempts}; }
  int newest_attempt() const { return std::max(attempts, attempts_told); }  // that was ever given a number
  bool operator==(const Job&) const = default;
};

struct DeviceSlot {
  Device device;
  std::optional<JobId> holder;

  bool operator==(const DeviceSlot&) const = default;
};

// An operator's wish: what runs on a node goes on, and nothing new starts. With a time it is a maintenance
// window: a job that ends before it may still start there.
struct Drain {
  std::string reason;
  std::optional<Time> from;   // none: at once
  std::optional<Time> until;  // none: until the node is resumed

  bool is_window() const { return from || until; }
  // Whether it forbids a job from `start` to `end`.
  bool forbids(Time start, Time end) const { return (!from || *from < end) && (!until || start < *until); }
  bool operator==(const Drain&) const = default;
};

// An operator keeps a node for the jobs of an account and those below it. What runs there goes on; a job of
// others may still start if it ends before.
struct NodeReservation {
  std::string account;
  std::string reason;
  std::optional<Time> from;   // none: at once
  std::optional<Time> until;  // none: until it is taken back

  // Whether it forbids a job of `of` from `start` to `end`.
  bool forbids(const std::string& of, Time start, Time end) const {
    return !is_at_or_below(of, account) && (!from || *from < end) && (!until || start < *until);
  }
  bool operator==(const NodeReservation&) const = default;
};

// A job's attempt failed soon after it began, by what may be its node's fault.
struct Suspicion {
  ExperimentId experiment;
  Time at;
  std::string what;
  bool confirmed = false;  // the job has done well elsewhere since

  bool operator==(const Suspicion&) const = default;
};

// A node's wall clock beside the cluster's time, as far as a sync shows it: off by half the round trip at
// most.
struct ClockMeasure {
  Duration ahead{};  // of the cluster's time; negative: behind
  Duration round_trip{};

  bool off() const { return ahead > kFar || ahead < -kFar; }  // worth telling
  static constexpr Duration kFar = std::chrono::seconds(1);
  bool operator==(const ClockMeasure&) const = default;
};

struct Node {
  std::size_t ordinal = 0;                // in the order of joining
  NodeDescription description;            // its devices are in `devices`
  std::vector<std::string> former_boots;  // of its agent's earlier processes, the newest few
  std::vector<DeviceSlot> devices;
  NodeState state = NodeState::up;
  Time last_seen;
  Time heard_since;                    // its agent has reported without a gap since then
  std::optional<ClockMeasure> clock;   // as last_seen not on disk
  std::int64_t orders_version = 1;     // but for what is_held_back changes
  std::int64_t held_back_version = 0;  // that, not on disk
  int strays = 0;  // live tasks it reports that no order covers; it gets no work until they are gone
  std::optional<Drain> drain;
  std::optional<NodeReservation> reservation;
  std::map<JobId, Suspicion> suspicions;  // suspicion.h
  Labels operator_labels;                 // go before its agent's
  // Of its newest report, and the operator's word on them; none of it is on disk.
  std::vector<TaskId> unknown;  // live tasks that this database never ordered: parked
  std::string
      stranger;  // the other cluster whose tasks they are; "": this one's, from before it was restored
  std::optional<bool> adopted;  // whether they shall be stopped
  NetworkPlace place;           // by its labels

  std::int64_t version() const { return orders_version + held_back_version; }  // of its orders
  // Whether it gets work; for a node with a maintenance window, of those jobs that end before it.
  bool usable() const { return state == NodeState::up && strays == 0 && (!drain || drain->is_window()); }
  // Whether it is closed to some jobs at some time, though it gets work.
  bool has_windows() const { return reservation || (drain && drain->is_window()); }
  bool forbids(const std::string& account, Time start, Time end) const {
    return (drain && drain->forbids(start, end)) ||
           (reservation && reservation->forbids(account, start, end));
  }
  // When its drain and its reservation end by themselves.
  std::array<std::optional<Time>, 2> window_ends() const {
    return {drain ? drain->until : std::nullopt, reservation ? reservation->until : std::nullopt};
  }
  bool operator==(const Node&) const = default;
};

// What decides where a job fits: jobs of one shape fit or do not fit together.
struct Shape {
  int devices = 1;
  int per_node = 0;
  Labels nodes = {};  // that its nodes must have
  Within within = Within::anywhere;
  int tensor = 1;
  int pipeline = 1;

  auto operator<=>(const Shape&) const = default;
};

// The order in which jobs of one kind may start: by the policy's rank (Policy::rank), smaller first, then
// age.
struct QueueKey {
  std::int64_t rank = 0;
  Time submitted;
  JobId job;

  auto operator<=>(const QueueKey&) const = default;
};

// Jobs that are alike but for their rank.
struct LineKey {
  std::string account;
  Shape shape;

  auto operator<=>(const LineKey&) const = default;
};

using Queue = std::map<LineKey, std::set<QueueKey>>;

// Of which kind, and on nodes with which labels.
struct PoolKey {
  std::string kind;
  Labels nodes;

  auto operator<=>(const PoolKey&) const = default;
};

// Whose devices of which kind.
struct HolderKey {
  std::string kind;
  std::string account;

  auto operator<=>(const HolderKey&) const = default;
};

struct DevicePool {
  FreeDevices free;        // healthy devices that nobody holds, on nodes that are usable
  FreeDevices capacity;    // all there are; a node with none is not of the pool
  std::int64_t users = 0;  // jobs that live and ask for these labels; without any the pool goes

  bool operator==(const DevicePool&) const = default;
};

struct ClusterState {
  ClusterName cluster;          // the store's, as the limits are the daemon's
  std::string folder = "jobs";  // of its jobs, in the nodes' shared folder
  Limits limits;
  SchedulingOptions scheduling;
  std::map<NodeId, Node> nodes;
  std::map<JobId, Job> jobs;                // those that have not ended
  std::map<ExperimentId, Halving> sweeps;   // those that end losing trials, until all of these have ended
  std::map<std::string, Account> accounts;  // those that operators made, and those that have held devices
  JobId next_job{1};
  std::map<JobId, JobId> skipped;  // ranges of numbers, each up to the second, that a lost database gave
  ExperimentId next_experiment{1};
  std::int64_t attempts_created = 0;  // gives each attempt its own ports
  Time clock;                         // of the last turn

  // Indexes, kept by apply.
  std::vector<NodeId> node_ids;                    // by ordinal
  Fabric fabric;                                   // what the switches' numbers in pools stand for
  std::map<PoolKey, DevicePool> pools;             // one for each kind, and those that live jobs ask for
  std::map<std::string, Queue> queues;             // by device kind; the jobs in line
  std::set<std::pair<Time, JobId>> timers;         // next_timer of every job that has one
  std::set<std::pair<Time, JobId>> deadlines;      // next_deadline of every job that has one
  std::set<std::pair<JobId, JobId>> dependents;    // a job, and one that waits for its end
  std::set<JobId> leaving;                         // jobs whose attempt is being stopped
  std::map<HolderKey, RunningJobs> running;        // jobs with an attempt that is not
  std::set<JobId> resizing;                        // jobs with Job::resize
  std::map<std::string, std::set<JobId>> elastic;  // by device kind; elastic jobs that run
  std::set<NodeId> suspects;                       // nodes with suspicions
  std::set<NodeId> windows;                        // nodes with a maintenance window or reservation
  std::set<std::size_t> impaired;                  // nodes that get no work or have an unhealthy device
  std::set<std::pair<Time, NodeId>> last_seen;     // of every node that is not lost
  std::set<NodeId> unheard;  // nodes that have not reported since all silence was forgiven, and may yet
  std::optional<Time> listens_until;  // without a fence: for nodes that this database may not list
  std::int64_t epoch = 0;             // moves on when something changed that a plan depends on

  bool operator==(const ClusterState&) const = default;
};

std::string_view to_string(TaskPhase phase);
std::string_view to_string(StopCause cause);
// "from 4 to 8 devices", "from 8 to 4 devices for job 12"
std::string describe(const Resize& resize);

const Job* find_job(const ClusterState& state, JobId job);
const Node* find_node(const ClusterState& state, const NodeId& node);
// Null where that rank has another node, or the attempt no such rank.
const Task* find_task(const Attempt& attempt, int rank, const NodeId& node);

// A node's labels: its operators' and, where they say nothing, its agent's.
Labels labels_of(const Node& node);

// The coordinator was away, and nodes that it has not heard since may know more than its database.
bool awaits_reports(const ClusterState& state);
// While it listens, a task that no agent has listed is not ordered: it may have been started elsewhere since
// a copy of the database was taken, and no fence would stop it.
bool is_held_back(const ClusterState& state, const Attempt& attempt, const Task& task);

// How many of a rank's devices, which its node has, are healthy.
int healthy_devices(const Node& node, const Placement& place);

// The jobs that hold devices of a node, by id.
std::vector<JobId> holders_of(const Node& node);

// When the first maintenance window or reservation of a node ends, of those that end by themselves.
std::optional<Time> next_window_end(const ClusterState& state);

// When a job next needs a Tick: its walltime or its back-off runs out.
std::optional<Time> next_timer(const Job& job);

// When the job's attempt must have started or, if it is being stopped, must be gone (deadlines.h).
std::optional<Time> next_deadline(const Job& job, const Limits& limits);

// How long the tasks of an attempt wait behind their fence, and by when its nodes must have started them.
Duration fence_wait(const Attempt& attempt, const Limits& limits);
Duration start_within(const Attempt& attempt, const Limits& limits);

// What the agent of `node` shall do. Launches lack what the core does not know: spec and secret.
// `version` changes when the rest does, but for start becoming keep: that only says what the agent has said.
NodeOrders node_orders(const ClusterState& state, const NodeId& node);

}  // namespace podium
