// The states of a job and which may follow which. Nothing else in Podium decides this.
//
//   queued → starting → running → succeeded | failed | cancelled
//     ↓        ↓           ↓
//  stopped   stopping ← ← ←      (preempted, cancelled, paused, or one task is gone and the rest must go too)
//              ↓
//            queued | cancelled | failed | succeeded
//
//   stopped: its sweep has ended it, because others did better
//   failed | cancelled | stopped → queued  (an operator requeues it: it goes on from its newest checkpoint)
//
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/program_spec.h"

namespace podium {

enum class JobState { queued, starting, running, stopping, succeeded, failed, cancelled, stopped };

// How an attempt ended. `ended_*` in the API and on the dashboard's time line.
enum class AttemptEnd { succeeded, failed, preempted, cancelled, node_lost, walltime, resized, paused };

// How a job must have ended before the one that waits for it may start.
enum class When { ok, any };

struct Dependency {
  JobId job;
  When when = When::ok;

  bool operator==(const Dependency&) const = default;
};

// How close to each other a gang's devices must be. Nodes under one leaf switch share the label "switch" (and
// "spine", the switch's parent).
enum class Within { anywhere, spine, leaf_switch, node };

// A job that is one of a service's. The service has the spec's name; the limits of its number and the time in
// the queue that asks for one more are those of common/model/serve_spec.h.
struct Replica {
  std::string service;
  int min = 1;
  int max = 1;
  Duration queue{};

  bool operator==(const Replica&) const = default;
};

// What the scheduler must know of a job; everything else stays in the store.
struct JobRequest {
  std::string name;
  int devices = 1;   // the fewest it may run on
  int per_node = 0;  // 0: as many as fit
  std::string kind = "gpu";
  Duration walltime = std::chrono::hours(24);
  int priority = 50;
  int max_restarts = 5;
  bool command = false;  // a program of the user's own, whose exit codes mean what launchers agree on
  std::string account = "default";     // "nlp/bert": where its device time is charged
  std::vector<Dependency> after = {};  // jobs that must end first; in the core those that have not yet
  std::map<std::string, std::string> nodes = {};  // labels that its nodes must have
  Within within = Within::anywhere;
  int tensor = 1;    // ranks in a tensor group: they are consecutive and belong into one island
  int pipeline = 1;  // stages; the devices / pipeline consecutive ranks of one belong under one switch
  // For an elastic job: the numbers of devices on which it may run, from `devices` up; else empty.
  std::vector<int> sizes = {};
  bool saves = false;                // writes checkpoints as it goes, not only when it is told to stop
  std::optional<JobId> resume = {};  // starts from the newest checkpoint of that job
  std::optional<JobId> init = {};    // takes its first weights from a checkpoint of that job
  bool process_per_node = false;     // one rank on each node, which drives all the job's devices there
  std::optional<Replica> replica = {};
  Duration grace = kUsualGrace;   // that its tasks have to leave, from the stop signal to SIGKILL
  Duration before_walltime = {};  // they are told so long before its walltime ends

  bool elastic() const { return !sizes.empty(); }
  bool operator==(const JobRequest&) const = default;
};

// The longest walltime of any spec; an operator may allow less.
inline constexpr Duration kLongestWalltime = std::chrono::days(3650);

bool may_follow(JobState from, JobState to);
bool is_terminal(JobState state);

std::string_view to_string(JobState state);
std::string_view to_string(AttemptEnd end);
std::string_view to_string(When when);
std::string_view to_string(Within within);
JobState job_state_from(std::string_view text);      // throws std::invalid_argument
AttemptEnd attempt_end_from(std::string_view text);  // throws std::invalid_argument
When when_from(std::string_view text);               // throws std::invalid_argument
Within within_from(std::string_view text);           // throws std::invalid_argument

}  // namespace podium
