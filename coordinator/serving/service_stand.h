// The services of a cluster as their jobs and the gateway tell of them. A service is the live replicas of one
// name; those of its newest experiment take the places of all others. Nothing of it is kept: all follows from
// the state. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/state/state.h"
#include "coordinator/serving/replica.h"

namespace podium {

// A replica. The pointers are into the state and the health that it was made of.
struct ReplicaStand {
  const Job* job = nullptr;
  const ReplicaHealth* health = nullptr;  // of its attempt; null: none is known

  bool ends() const;    // it is being cancelled
  bool active() const;  // it serves, or will as soon as it can
  bool runs() const;    // its attempt has started and is not being stopped
  bool ready() const { return runs() && health && health->ready; }
};

struct ServiceStand {
  std::string name;
  ExperimentId experiment;            // the newest
  Replica replica;                    // as its spec says
  std::vector<ReplicaStand> own;      // of that experiment, by number
  std::vector<ReplicaStand> earlier;  // of those before, by number
};

// By name.
std::vector<ServiceStand> services_of(const ClusterState& state, const ReplicasHealth& health);

// The service as it would be without its newest experiment, of which there are others.
ServiceStand without_newest(const ServiceStand& service);

//   none ── a new spec ──► rolling ── no replica of an earlier one is active ──► none
//                             └─ one failed for good and no other has begun ──► halted
enum class Roll { none, rolling, halted };

// How far the newest experiment has taken the places of the earlier ones.
Roll roll_of(const ServiceStand& service);
std::string_view to_string(Roll roll);

std::vector<ReplicaStand> active_of(const std::vector<ReplicaStand>& replicas);
std::vector<ReplicaStand> ready_of(const std::vector<ReplicaStand>& replicas);

}  // namespace podium
