// The last replica of each service that failed for good, as the decided events tell. Forgotten at a restart.
#pragma once

#include <map>
#include <string>

#include "coordinator/core/events/events.h"
#include "coordinator/core/state/state.h"

namespace podium {

struct ReplicaFailure {
  JobId job;
  ExperimentId experiment;
  std::string reason;
  Time at;
};

class ReplicaFailures {
 public:
  explicit ReplicaFailures(const ClusterState& state);

  void notice(const Events& decided);
  // Until a later spec is submitted or the service ends.
  const ReplicaFailure* find(const std::string& service) const;

 private:
  struct Living {
    std::string service;
    ExperimentId experiment;
  };

  void remember(JobId job, ExperimentId experiment, const JobRequest& request);
  void end(const JobStateChanged& changed, Time at);

  std::map<JobId, Living> living_;  // replicas
  std::map<std::string, ReplicaFailure> failures_;
};

}  // namespace podium
