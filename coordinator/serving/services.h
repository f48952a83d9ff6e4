// Decides what becomes of the replicas of services: a new spec takes the place of the one before replica by
// replica, the load decides how many there are, and one that no longer answers is started again. Pure, and
// level-triggered: it goes on from any state, also after a restart of the coordinator, for which the memory
// is empty. docs/serving.md ("As a job") has the rules.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/events/commands.h"
#include "coordinator/serving/service_stand.h"

namespace podium {

struct ServiceLimits {
  Duration full_for = std::chrono::seconds(15);    // requests wait longer than replicas.queue: one more
  Duration idle_for = std::chrono::minutes(5);     // they wait less than a part of that: one less
  int idle_part = 5;                               // a fifth
  Duration silent_for = std::chrono::seconds(10);  // one that was ready and answers no more starts again
  Duration ready_within =
      std::chrono::minutes(5);  // and so does one that has run for so long without being ready
  Duration room_after = std::chrono::seconds(10);  // a new one has found no device: an earlier one makes room
};

// What was seen since the coordinator's start.
struct ServiceMemory {
  struct Load {
    std::optional<Time> full_since, idle_since;
  };
  struct Seen {
    std::optional<Time> ready_since;  // without a break
    std::optional<Time> not_ready_since;
    bool was_ready = false;
  };
  std::map<std::string, Load> loads;     // by service
  std::map<AttemptId, Seen> attempts;    // of replicas that run
  std::map<JobId, Time> without_device;  // replicas in line, and since when
};

// What to do now. Takes note of what it sees.
std::vector<Command> steps(const ClusterState& state, const ReplicasHealth& health, ServiceMemory& memory,
                           const ServiceLimits& limits, Time now);

// The end of a service: all its jobs are cancelled.
std::vector<Command> stop_service(const ServiceStand& service);

}  // namespace podium
