#include "coordinator/serving/service_stand.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"
#include "coordinator/core/jobs/replicas.h"

namespace podium {
namespace {

const ReplicaHealth* health_of(const Job& job, const ReplicasHealth& health) {
  if (!job.attempt) return nullptr;
  const auto known = health.find(job.attempt_id());
  return known == health.end() ? nullptr : &known->second;
}

// Of replicas by number, whose experiments ascend.
ServiceStand service_from(const std::string& name, std::vector<ReplicaStand> replicas) {
  ServiceStand service{.name = name};
  service.experiment = std::ranges::max(replicas, {}, [](const ReplicaStand& replica) {
                         return replica.job->experiment;
                       }).job->experiment;
  for (ReplicaStand& replica : replicas) {
    const bool own = replica.job->experiment == service.experiment;
    if (own) service.replica = *replica.job->request.replica;
    (own ? service.own : service.earlier).push_back(replica);
  }
  return service;
}

template <class Wanted>
std::vector<ReplicaStand> those(const std::vector<ReplicaStand>& replicas, const Wanted& wanted) {
  std::vector<ReplicaStand> found;
  std::ranges::copy_if(replicas, std::back_inserter(found), wanted);
  return found;
}

}  // namespace

bool ReplicaStand::ends() const { return job->attempt && job->attempt->stop == StopCause::cancelled; }

bool ReplicaStand::active() const { return is_active_replica(*job); }

bool ReplicaStand::runs() const {
  return job->state == JobState::running && job->attempt->stop == StopCause::none;
}

std::vector<ServiceStand> services_of(const ClusterState& state, const ReplicasHealth& health) {
  std::vector<ServiceStand> services;
  for (const auto& [name, jobs] : state.indexes.services) {
    std::vector<ReplicaStand> replicas;
    for (const JobId id : jobs) {
      const Job& job = state.jobs.at(id);
      replicas.push_back({&job, health_of(job, health)});
    }
    services.push_back(service_from(name, std::move(replicas)));
  }
  return services;
}

ServiceStand without_newest(const ServiceStand& service) {
  PODIUM_CHECK(!service.earlier.empty(), "a service has at least one experiment");
  return service_from(service.name, service.earlier);
}

Roll roll_of(const ServiceStand& service) {
  if (active_of(service.earlier).empty()) return Roll::none;
  const bool begun = !active_of(service.own).empty();
  const bool some_ended = std::ssize(service.own) < service.replica.max;
  return !begun && some_ended ? Roll::halted : Roll::rolling;
}

std::string_view to_string(Roll roll) {
  switch (roll) {
    case Roll::none:
      return "none";
    case Roll::rolling:
      return "rolling";
    case Roll::halted:
      return "halted";
  }
  PODIUM_CHECK(false, "unknown Roll");
}

std::vector<ReplicaStand> active_of(const std::vector<ReplicaStand>& replicas) {
  return those(replicas, [](const ReplicaStand& replica) { return replica.active(); });
}

std::vector<ReplicaStand> ready_of(const std::vector<ReplicaStand>& replicas) {
  return those(replicas, [](const ReplicaStand& replica) { return replica.ready(); });
}

}  // namespace podium
