// Requests to the cluster. `handle` turns a command into events or refuses it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/id.h"
#include "common/model/asha.h"
#include "common/model/job.h"
#include "common/model/links.h"
#include "common/model/spec.h"
#include "common/model/sync.h"

namespace podium {

// All jobs of one spec, or none. They get consecutive ids, in this order.
struct SubmitExperiment {
  std::string name;
  std::vector<JobRequest> jobs;
  // How jobs ended that `after` names and that the state has forgotten; the store looks it up. Tracked runs
  // may not have ended.
  std::map<JobId, JobState> ended = {};
  bool in_turn = false;           // each job waits for the end, successful or not, of those before it
  std::optional<Asha> asha = {};  // the jobs are trials; losing trials are ended
  // Of each job to others, where the spec lists them; errors then begin with the job's place in the list.
  std::vector<JobLinks> links = {};
};

// A run that a program elsewhere logs: it gets a job's number, and is not scheduled.
struct TrackRun {
  std::optional<ExperimentId> experiment = {};  // that it joins; none: a new one
  std::string name = {};                        // of the new one
};

struct CancelJob {
  JobId job;
};

// A running job goes on but does not start again.
struct HoldJob {
  JobId job;
};

struct ReleaseJob {
  JobId job;
};

struct PrioritiseJob {
  JobId job;
  int priority = 0;
};

// A job that the state has forgotten; the store looks it up.
struct EndedJob {
  ExperimentId experiment;
  JobRequest request;
  JobState state = JobState::failed;
  int attempts = 0;
  Duration served{}, attained{};  // as in Job
  bool astray = true;             // as in Job
  bool lacks_code = false;        // what was packed for it is no longer kept
  std::optional<JobId> read_by;   // a live job that names its checkpoints by their path
};

// A running job stops at a checkpoint and queues again. A waiting job drops its back-off and the nodes that
// it avoids. A job that failed or was cancelled continues from its checkpoint, with all its retries.
struct RequeueJob {
  JobId job;
  std::optional<EndedJob> ended = {};
  std::map<JobId, JobState> ends = {};  // of the jobs that its `after` names, as in SubmitExperiment
  std::string reason = "requeued";      // for which a running job stops
};

// Sets how long the job's attempts, the running one included, may take from their start.
struct ExtendJob {
  JobId job;
  Duration walltime{};
};

// Makes the account where there is none. Absent values stay as they are; a null quota or limit is removed.
struct ChangeAccount {
  std::string account;
  std::optional<int> share;
  std::map<std::string, std::optional<int>> quota, limit;  // devices by kind
};

struct DeleteAccount {
  std::string account;
};

struct NodeReported {
  NodeReport report;
};

// Nothing new starts on the node, from now on or in a maintenance window.
struct DrainNode {
  NodeId node;
  std::string reason;
  std::optional<Time> from;
  std::optional<Time> until;
};

struct ResumeNode {
  NodeId node;
};

// Only jobs of the account and of accounts below it start on the node, and others that end before `from`.
struct ReserveNode {
  NodeId node;
  std::string account;
  std::string reason;
  std::optional<Time> from;
  std::optional<Time> until;
};

struct UnreserveNode {
  NodeId node;
};

// Sets labels of operators or, where the value is absent, removes them. The agent's labels stay below them.
struct LabelNode {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};

// The node's unknown tasks run to their end, or are stopped now; then the node gets work again.
struct AdoptNode {
  NodeId node;
  bool stop = false;
};

// The machine was given back to whoever lends it, and everything on it was killed: the tasks that it still
// had end at no cost to their jobs, and once no attempt has a task there the node leaves the cluster. To be
// repeated until it has.
struct RemoveNode {
  NodeId node;
  std::string reason;
};

// A task's events.jsonl reports a checkpoint that is whole and on disk.
struct CheckpointSaved {
  AttemptId attempt;
  std::int64_t step = 0;
};

// A trial of a sweep reports its metric at a rung's step or later.
struct RungTold {
  JobId job;
  int rung = 1;
  std::int64_t step = 0;
  double value = 0;
};

// A replica stops gracefully, or does not start, until it is promoted; it says why.
struct PauseReplica {
  JobId job;
  std::string reason;
};

struct PromoteReplica {
  JobId job;
  std::string reason;
};

// Time passed. Due at next_tick() and at Plan::stale_at, and at least every five seconds.
struct Tick {};

// The coordinator has just rebuilt its state: silence while it was down does not count against nodes.
struct CoordinatorUp {
  JobId highest{0};  // number that a job was given, by the record beside the database
};

using Command = std::variant<SubmitExperiment, TrackRun, CancelJob, HoldJob, ReleaseJob, PrioritiseJob,
                             RequeueJob, ExtendJob, DrainNode, ResumeNode, ReserveNode, UnreserveNode,
                             LabelNode, AdoptNode, RemoveNode, ChangeAccount, DeleteAccount, NodeReported,
                             CheckpointSaved, RungTold, PauseReplica, PromoteReplica, Tick, CoordinatorUp>;

// The part of a spec that the scheduler needs.
JobRequest job_request(const JobSpec& spec);

}  // namespace podium
