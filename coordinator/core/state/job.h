// A job that has not ended: its request, its attempt with the task of each rank, and what its earlier
// attempts taught. Plain values. A device stays allocated to the job until the attempt ends or, once the
// attempt is being stopped, until the task on the device is over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/sync.h"
#include "coordinator/core/state/options.h"

namespace podium {

// Where one rank runs. Ranks count by node, then by device index.
struct Placement {
  NodeId node;
  int device = 0;
  int local_rank = 0;
  int local_world_size = 1;
  int node_rank = 0;
  int threads = 0;  // CPU threads for the device; 0: unknown
  // Further devices of the node that the rank drives, where JobRequest::process_per_node.
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
  int master_port = 0;  // this port and the next two belong to this attempt alone

  int devices() const;
  bool operator==(const Allocation&) const = default;
};

//   ordered → running → exited | lost       (a task may skip running; lost: its exit will never be known)
enum class TaskPhase { ordered, running, exited, lost };

struct Task {
  TaskPhase phase = TaskPhase::ordered;
  std::int64_t pid = 0;
  bool listed = false;                // the agent has reported it; it is never started again
  bool staging = false;               // its node does not have its inputs yet; it starts once it has
  std::optional<TaskExit> exit;       // when exited; when lost, only the message has a meaning
  std::optional<Time> missing_since;  // since when its node's reports lack it, after it ran

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
  paused,      // by its sweep or its service
  not_started  // a node did not begin with its part in time
};

// How likely a task's exit is the root cause of its attempt's failure, in ascending order; of equal exits the
// first to fail by its own record counts, else the first to arrive. stopped: it was told to stop and left on
// SIGTERM. peer_lost: it is a victim, and counts only where no other rank failed. killed: it may have hung.
// left: it saved and left without an order, often because another rank was told to; like taken, this excuses
// the job. taken: its agent, its node or a SIGTERM that Podium did not send ended it, so the job is not to
// blame for anything that its ranks did.
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
  Duration grace = kUsualGrace;  // from then, until its tasks are killed
  std::optional<int> culprit;    // the rank to blame if this attempt fails
  Blame blame = Blame::none;     // and how surely
  int staging = 0;               // tasks that wait for their inputs
  std::optional<Time> staged;    // since when a task that did has them
  bool fenced = false;  // a task of an older attempt may still run, so this one starts behind a fence

  // Whether the rank's devices are still allocated to the job: an attempt that is being stopped returns them
  // task by task.
  bool is_allocated(std::size_t rank) const { return stop == StopCause::none || !tasks[rank].over(); }
  bool operator==(const Attempt&) const = default;
};

// Each kind of retry has its own count and budget; see lifecycle.h.
struct RetryCounts {
  int failures = 0;   // against JobRequest::max_restarts
  int requeues = 0;   // the task asked to be started again
  int moves = 0;      // the task asked for other hardware
  int losses = 0;     // nodes lost
  int fruitless = 0;  // failed attempts in a row that left no newer checkpoint
  int quick = 0;      // failed attempts in a row that ended soon after they began

  bool operator==(const RetryCounts&) const = default;
};

// An elastic job that changes its size: its attempt is stopped, and the job starts again before any other, on
// devices that are kept for it meanwhile (plan/elastic.h).
struct Resize {
  int from = 0, to = 0;                   // devices
  std::map<NodeId, int> restart_on = {};  // devices by node on which it starts again, `to` together
  std::optional<JobId> room_for = {};     // the waiting job that it shrinks for

  bool grows() const { return to > from; }
  bool operator==(const Resize&) const = default;
};

struct Job {
  JobId id;
  ExperimentId experiment;
  JobRequest request;
  JobState state = JobState::queued;
  Time submitted;  // its age counts from it, across restarts
  int attempts = 0;
  RetryCounts retries;
  Duration served{};                // run time of its ended attempts
  Duration attained{};              // device time of its ended attempts
  std::int64_t checkpoint = -1;     // step of its newest checkpoint
  std::optional<Time> saved;        // when the core learnt of that checkpoint
  std::optional<Time> not_before;   // queued, but backing off
  std::vector<NodeId> avoid;        // nodes that failed it
  std::optional<Time> avoid_until;  // until when they are avoided
  std::optional<Attempt> attempt;   // while starting, running or stopping
  std::optional<Resize> resize;     // until it has started with its new size
  bool held = false;                // does not start until it is released
  std::string held_because;         // "": an operator wishes it
  bool paused = false;              // by its sweep or service: does not start until it is promoted
  int attempts_told = 0;            // newest attempt that nodes reported and a restored database lacked
  bool astray = false;              // a task of an ended attempt was lost, and none has started since

  bool avoids(Time now) const { return !avoid.empty() && avoid_until && now < *avoid_until; }
  // Whether it may start as soon as there is room.
  bool in_line() const { return state == JobState::queued && !held && !paused && request.after.empty(); }
  // The devices of its attempt; for a job without one, the fewest that it may start on.
  int devices() const { return attempt ? attempt->allocation.devices() : request.devices; }
  // Those of them that are still allocated to the job.
  int allocated_devices() const;
  AttemptId attempt_id() const { return {id, attempts}; }
  int newest_attempt() const {
    return std::max(attempts, attempts_told);
  }  // including those that only nodes knew
  bool operator==(const Job&) const = default;
};

std::string_view to_string(TaskPhase phase);
std::string_view to_string(StopCause cause);
// "from 4 to 8 devices", "from 8 to 4 devices for job 12"
std::string describe(const Resize& resize);

// Null where the attempt has no such rank, or has it on another node.
const Task* find_task(const Attempt& attempt, int rank, const NodeId& node);

// When the job next needs a Tick: at the last call or at the end of its back-off.
std::optional<Time> next_timer(const Job& job);

// When an attempt is told to stop for its walltime: at its end, or so long before as the job asks for.
Time last_call(const Job& job);

// How long the tasks of its attempt have to leave when they are told to at `now`, and why.
Duration grace_for(const Job& job, StopCause cause, Time now);

// By when the job's attempt must have started or, if it is being stopped, must have ended
// (nodes/deadlines.h).
std::optional<Time> next_deadline(const Job& job, const Limits& limits);

// From when the nodes of an attempt have all that they need to start its tasks: the later of its creation and
// the end of staging. Nothing while a task waits for its inputs.
std::optional<Time> ready_to_start(const Attempt& attempt);

// How long the tasks of an attempt wait behind their fence, and how long its nodes may take to start them and
// to end them.
Duration fence_wait(const Attempt& attempt, const Limits& limits);
Duration start_within(const Attempt& attempt, const Limits& limits);
Duration stop_within(const Attempt& attempt, const Limits& limits);

}  // namespace podium
