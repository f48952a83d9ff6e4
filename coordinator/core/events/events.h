// What happened, in the past tense. Only events change a ClusterState, and their log is the truth on disk.
// The meaning of a released event never changes; a change of its codec raises "v" and keeps the old reader.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

struct ExperimentCreated {
  ExperimentId experiment;
  std::string name;
  bool operator==(const ExperimentCreated&) const = default;
};

struct JobQueued {
  JobId job;
  ExperimentId experiment;
  JobRequest request;
  bool operator==(const JobQueued&) const = default;
};

// A program elsewhere logs a run. The number is all that the core knows of it.
struct RunTracked {
  JobId job;
  ExperimentId experiment;
  bool operator==(const RunTracked&) const = default;
};

struct AttemptCreated {
  AttemptId attempt;
  Allocation allocation;
  bool operator==(const AttemptCreated&) const = default;
};

struct TaskStarted {
  TaskId task;
  std::int64_t pid = 0;
  bool operator==(const TaskStarted&) const = default;
};

struct TaskExited {
  TaskId task;
  TaskExit exit;
  bool operator==(const TaskExited&) const = default;
};

// The node's report lacks the task. It is found again, or lost after Limits::missing_after.
struct TaskMissed {
  TaskId task;
  bool operator==(const TaskMissed&) const = default;
};

// The agent has the task, though it does not run yet: no other agent may start it any more.
struct TaskListed {
  TaskId task;
  bool operator==(const TaskListed&) const = default;
};

// It starts once its inputs are on its node; `over`: they are.
struct TaskStaging {
  TaskId task;
  bool over = false;
  bool operator==(const TaskStaging&) const = default;
};

struct TaskFound {
  TaskId task;
  bool operator==(const TaskFound&) const = default;
};

// Its exit will never be known.
struct TaskLost {
  TaskId task;
  std::string reason;
  bool operator==(const TaskLost&) const = default;
};

struct AttemptStopping {
  AttemptId attempt;
  StopCause cause = StopCause::none;
  std::string reason;
  bool operator==(const AttemptStopping&) const = default;
};

// AttemptStopping follows.
struct ResizePlanned {
  AttemptId attempt;
  Resize resize;
  bool operator==(const ResizePlanned&) const = default;
};

// Why a job is started again after an attempt.
enum class RestartCause { none, failure, requeue, move, node_loss, preemption, resize, promotion };

struct AttemptEnded {
  AttemptId attempt;
  AttemptEnd end = AttemptEnd::succeeded;
  std::string reason;
  RestartCause restart = RestartCause::none;  // none: the job ended as well
  bool operator==(const AttemptEnded&) const = default;
};

struct AccountChanged {
  std::string account;
  AccountRules rules;
  bool operator==(const AccountChanged&) const = default;
};

// With its usage.
struct AccountDeleted {
  std::string account;
  bool operator==(const AccountDeleted&) const = default;
};

// The job is queued again, with what its last attempt taught. JobStateChanged follows.
struct RetryPlanned {
  JobId job;
  RetryCounts retries;
  std::optional<Time> not_before;
  std::vector<NodeId> avoid;
  std::optional<Time> avoid_until = {};
  bool operator==(const RetryPlanned&) const = default;
};

struct JobStateChanged {
  JobId job;
  JobState from = JobState::queued;
  JobState to = JobState::queued;
  std::string reason;
  bool operator==(const JobStateChanged&) const = default;
};

// The job does not start, or start again, until it is released.
struct JobHeld {
  JobId job;
  std::string reason = {};  // "": an operator held it; else what nodes know and this database lacks
  int attempts = 0;         // the newest that nodes have reported
  bool operator==(const JobHeld&) const = default;
};

struct JobReleased {
  JobId job;
  bool operator==(const JobReleased&) const = default;
};

struct JobPrioritised {
  JobId job;
  int priority = 0;
  bool operator==(const JobPrioritised&) const = default;
};

// `on` ended as `job` demands; `job` no longer waits for it.
struct DependencyMet {
  JobId job;
  JobId on;
  bool operator==(const DependencyMet&) const = default;
};

// An operator continues a job that had ended and that the core had forgotten. JobStateChanged to queued
// follows.
struct JobRecalled {
  JobId job;
  ExperimentId experiment;
  JobRequest request;
  JobState from = JobState::failed;
  int attempts = 0;
  Duration served{}, attained{};
  bool astray = true;  // as in Job
  bool operator==(const JobRecalled&) const = default;
};

struct JobExtended {
  JobId job;
  Duration walltime{};
  bool operator==(const JobExtended&) const = default;
};

// The experiment's jobs, numbered from `first` on, are trials of a sweep that ends losing trials.
struct SweepBegun {
  ExperimentId experiment;
  Asha rule;
  JobId first;
  int trials = 0;
  bool operator==(const SweepBegun&) const = default;
};

// The first report of a trial at a rung; the trial may have ended meanwhile.
struct RungReached {
  ExperimentId experiment;
  JobId job;
  int rung = 1;
  RungReport report;
  bool operator==(const RungReached&) const = default;
};

// Other trials do better at the rung. AttemptStopping follows where the trial has an attempt.
struct TrialPaused {
  JobId job;
  int rung = 1;
  std::string reason;
  bool operator==(const TrialPaused&) const = default;
};

// The trial goes on from the rung to the next, or to its end.
struct TrialPromoted {
  JobId job;
  int rung = 1;
  std::string reason;
  bool operator==(const TrialPromoted&) const = default;
};

// The service needs fewer replicas. AttemptStopping follows where this one has an attempt.
struct ReplicaPaused {
  JobId job;
  std::string reason;
  bool operator==(const ReplicaPaused&) const = default;
};

// The service needs the replica (again).
struct ReplicaPromoted {
  JobId job;
  std::string reason;
  bool operator==(const ReplicaPromoted&) const = default;
};

struct CheckpointNoted {
  AttemptId attempt;
  std::int64_t step = 0;
  bool operator==(const CheckpointNoted&) const = default;
};

struct NodeJoined {
  NodeDescription node;
  bool operator==(const NodeJoined&) const = default;
};

// The node's devices, address, labels, version or agent process have changed.
struct NodeChanged {
  NodeDescription node;
  bool operator==(const NodeChanged&) const = default;
};

struct NodeStateChanged {
  NodeId node;
  NodeState from = NodeState::up;
  NodeState to = NodeState::up;
  std::string reason;
  bool operator==(const NodeStateChanged&) const = default;
};

struct NodeStraysCounted {
  NodeId node;
  int strays = 0;
  bool operator==(const NodeStraysCounted&) const = default;
};

// Replaces an earlier drain.
struct NodeDrained {
  NodeId node;
  Drain drain;
  bool operator==(const NodeDrained&) const = default;
};

struct NodeResumed {
  NodeId node;
  std::string reason;
  bool operator==(const NodeResumed&) const = default;
};

// Replaces an earlier reservation.
struct NodeReserved {
  NodeId node;
  NodeReservation reservation;
  bool operator==(const NodeReserved&) const = default;
};

struct NodeUnreserved {
  NodeId node;
  std::string reason;
  bool operator==(const NodeUnreserved&) const = default;
};

// All labels that operators have given the node.
struct NodeLabelled {
  NodeId node;
  Labels labels;
  bool operator==(const NodeLabelled&) const = default;
};

// The coordinator was away: every node's silence counts from now.
struct SilenceForgiven {
  std::string reason;
  bool started = false;  // the database may be an older copy now
  bool operator==(const SilenceForgiven&) const = default;
};

// The node's machine was given back to whoever lends it. No attempt that lives has a task there.
struct NodeLeft {
  NodeId node;
  std::string reason;
  bool operator==(const NodeLeft&) const = default;
};

// Not durable: it updates only what comes from the newest report.
struct NodeSeen {
  NodeId node;
  std::optional<ClockMeasure> clock = {};  // the newest; like the next two fields not written to disk
  std::vector<TaskId> unknown = {};        // Node::unknown
  std::string stranger = {};               // Node::stranger
  bool operator==(const NodeSeen&) const = default;
};

// An operator's decision on a node's unknown tasks. Not durable either: after a restart they are parked
// again.
struct NodeAdopted {
  NodeId node;
  bool stop = false;
  bool operator==(const NodeAdopted&) const = default;
};

// Nodes, or the record beside the database, know jobs that this database never had: their numbers are not
// assigned again.
struct JobNumbersSkipped {
  JobId next;
  bool operator==(const JobNumbersSkipped&) const = default;
};

struct Ticked {
  bool operator==(const Ticked&) const = default;
};

struct Event {
  Time at;
  std::variant<ExperimentCreated, JobQueued, AttemptCreated, TaskStarted, TaskExited, TaskMissed, TaskFound,
               TaskLost, AttemptStopping, AttemptEnded, RetryPlanned, JobStateChanged, CheckpointNoted,
               NodeJoined, NodeChanged, NodeStateChanged, NodeStraysCounted, SilenceForgiven, NodeSeen,
               Ticked, JobHeld, JobReleased, JobPrioritised, DependencyMet, NodeDrained, NodeResumed,
               NodeLabelled, AccountChanged, ResizePlanned, NodeReserved, NodeUnreserved, TaskListed,
               JobRecalled, JobExtended, NodeAdopted, JobNumbersSkipped, AccountDeleted, SweepBegun,
               RungReached, TrialPaused, TrialPromoted, ReplicaPaused, ReplicaPromoted, RunTracked, NodeLeft,
               TaskStaging>
      body;

  bool operator==(const Event&) const = default;
};

using Events = std::vector<Event>;

// The only mutator of ClusterState. An event that does not fit the state is a bug and ends the process.
void apply(ClusterState& state, const Event& event);
void apply_all(ClusterState& state, const Events& events);

// Whether the event belongs in the log; the others only move clocks.
bool is_durable(const Event& event);

// "job_queued": its name in the log and in the API.
std::string_view type_of(const Event& event);

// The job or node that the event is about, if any.
std::optional<JobId> job_of(const Event& event);
std::optional<NodeId> node_of(const Event& event);

// One sentence for people, without the time.
std::string describe(const Event& event);

// {"v":1,"type":"job_queued","at_ms":…,…}. Reading throws nlohmann::json::exception or std::invalid_argument.
nlohmann::json to_json(const Event& event);
Event event_from_json(const nlohmann::json& json);

// A whole state, for snapshots, without what is not durable.
nlohmann::json to_json(const ClusterState& state);
// Takes limits and scheduling from `empty`, a state without nodes and jobs.
ClusterState cluster_state_from_json(const nlohmann::json& json, const ClusterState& empty);

}  // namespace podium
