// What may be asked of the cluster. A command is a wish: `handle` turns it into events or refuses it.
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
#include "common/model/spec.h"
#include "common/model/sync.h"

namespace podium {

// All jobs of one spec, or none. They get consecutive ids, in this order.
struct SubmitExperiment {
  std::string name;
  std::vector<JobRequest> jobs;
  // How those jobs ended that `after` names and that the state has forgotten; only the store knows.
  std::map<JobId, JobState> ended = {};
  bool in_turn = false;           // each job waits until those before it have ended, however they do
  std::optional<Asha> asha = {};  // the jobs are trials, of which those that lose are ended
};

struct CancelJob {
  JobId job;
};

// A job that runs goes on, and does not start again.
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

// Of a job that the state has forgotten; only the store knows.
struct EndedJob {
  ExperimentId experiment;
  JobRequest request;
  JobState state = JobState::failed;
  int attempts = 0;
  Duration served{}, attained{};  // as in Job
  bool lacks_code = false;        // what was packed for it is no longer kept
};

// A running job stops at a checkpoint and queues again; a waiting one forgets its back-off and the nodes it
// avoids; one that failed or was cancelled goes on from its checkpoint, with all its retries.
struct RequeueJob {
  JobId job;
  std::optional<EndedJob> ended = {};
  std::map<JobId, JobState> ends = {};  // of the jobs that its `after` names, as in SubmitExperiment
};

// Its attempts, the one that runs too, may take so long from their start.
struct ExtendJob {
  JobId job;
  Duration walltime{};
};

// Makes the account, where there is none. What is absent stays as it is; a quota or limit of nothing is
// lifted.
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

// Nothing new starts on the node: from now on, or in a maintenance window.
struct DrainNode {
  NodeId node;
  std::string reason;
  std::optional<Time> from;
  std::optional<Time> until;
};

struct ResumeNode {
  NodeId node;
};

// Of those that do not run yet, the node takes the account's jobs only.
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

// Sets and, where the value is absent, removes labels that operators gave; the agent's own stay under
// them.
struct LabelNode {
  NodeId node;
  std::map<std::string, std::optional<std::string>> labels;
};

// The node's unknown tasks run to their end, or are stopped now; then it works for this cluster.
struct AdoptNode {
  NodeId node;
  bool stop = false;
};

// A task's events.jsonl told of a checkpoint that is whole and on disk.
struct CheckpointSaved {
  AttemptId attempt;
  std::int64_t step = 0;
};

// A trial of a sweep told its metric at a rung's step, or later.
struct RungTold {
  JobId job;
  int rung = 1;
  std::int64_t step = 0;
  double value = 0;
};

// Time passed. Due at next_tick() and at Plan::stale_at, and at least every five seconds.
struct Tick {};

// The coordinator has just rebuilt its state: the silence while it was down is nobody's fault.
struct CoordinatorUp {};

using Command =
    std::variant<SubmitExperiment, CancelJob, HoldJob, ReleaseJob, PrioritiseJob, RequeueJob, ExtendJob,
                 DrainNode, ResumeNode, ReserveNode, UnreserveNode, LabelNode, AdoptNode, ChangeAccount,
                 DeleteAccount, NodeReported, CheckpointSaved, RungTold, Tick, CoordinatorUp>;

// The part of a spec that the scheduler needs.
JobRequest job_request(const JobSpec& spec);

}  // namespace podium
