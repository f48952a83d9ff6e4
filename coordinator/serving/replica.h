// A replica of a service as the gateway needs it, and what the gateway finds out about it.
#pragma once

#include <map>
#include <string>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/net/url.h"

namespace podium {

struct ReplicaPlace {
  AttemptId attempt;  // whose place never changes
  std::string service;
  HostPort address;
  std::string secret;  // the bearer token that it asks for
};

struct ReplicaHealth {
  bool ready = false;
  Duration silent{};  // since it last answered, or since its place was told
  // Of the last seconds, as it says itself; 0 without requests.
  double queue_ms = 0;  // 90th percentile of the time in its queue
  double requests_per_second = 0;
  int in_flight = 0;  // requests of the gateway's

  bool operator==(const ReplicaHealth&) const = default;
};

using ReplicasHealth = std::map<AttemptId, ReplicaHealth>;

}  // namespace podium
