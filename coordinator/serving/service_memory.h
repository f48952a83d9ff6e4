// What the controller of services remembers: since when each replica is ready, silent or without a device.
// Nothing of it is on the disk: a coordinator that begins anew sees again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/serving/service_stand.h"

namespace podium {

struct ServiceLimits {
  Duration full_for = std::chrono::seconds(15);    // requests wait longer than replicas.queue: one more
  Duration idle_for = std::chrono::minutes(5);     // they wait less than a part of that: one less
  int idle_part = 5;                               // a fifth
  Duration silent_for = std::chrono::seconds(10);  // one that was ready and answers no more starts again,
  Duration node_heard = std::chrono::seconds(3);   // where its node was heard so long after its last answer,
  Duration heard_for = std::chrono::seconds(5);    // and so long ago,
  Duration restart_apart = std::chrono::seconds(30);  // one of a service at a time
  Duration ready_within = std::chrono::minutes(5);    // a start takes no longer, the next one twice as long,
  Duration longest_start = std::chrono::hours(1);     // and so on up to this
  Duration room_after = std::chrono::seconds(10);  // a new one has found no device: an earlier one makes room
  Duration settled_for =
      std::chrono::seconds(10);  // a new one that is ready so long takes an earlier one's place
};

// What was seen since the coordinator's start.
struct ServiceMemory {
  struct Load {
    std::optional<Time> full_since, idle_since;
  };
  struct Seen {
    std::optional<Time> ready_since;  // without a break
    std::optional<Time> not_ready_since;
    std::optional<Time> silent_alone_since;  // its node has been heard since its last answer
    bool was_ready = false;
  };
  std::map<std::string, Load> loads;      // by service
  std::map<std::string, Time> restarted;  // by service: when a silent replica was last started again
  std::map<AttemptId, Seen> attempts;     // of replicas that run
  std::map<JobId, Time> without_device;   // replicas in line, and since when
  std::map<JobId, int> slow_starts;       // in a row, that took too long
};

// Takes note of how the replicas are, and forgets those that are no more.
void take_note(const ClusterState& state, const std::vector<ServiceStand>& services, ServiceMemory& memory,
               const ServiceLimits& limits, Time now);

}  // namespace podium
