#include "coordinator/serving/service_memory.h"

#include <algorithm>

namespace podium {
namespace {

// Whether it has not answered though its node was heard: the network to the node is whole.
bool silent_alone(const ClusterState& state, const ReplicaStand& replica, const ServiceLimits& limits,
                  Time now) {
  const Node* node = find_node(state, replica.job->attempt->allocation.ranks.front().node);
  return replica.health && node && node->last_seen >= now - replica.health->silent + limits.node_heard;
}

// Since when it holds.
void keep(std::optional<Time>& since, bool holds, Time now) {
  since = holds ? std::optional(since.value_or(now)) : std::nullopt;
}

}  // namespace

void take_note(const ClusterState& state, const std::vector<ServiceStand>& services, ServiceMemory& memory,
               const ServiceLimits& limits, Time now) {
  std::map<AttemptId, ServiceMemory::Seen> attempts;
  std::map<JobId, Time> without_device;
  const auto note = [&](const ReplicaStand& replica) {
    const Job& job = *replica.job;
    const bool backs_off = job.not_before && *job.not_before > now;
    if (job.in_line() && !backs_off) {
      const auto known = memory.without_device.find(job.id);
      without_device[job.id] = known == memory.without_device.end() ? now : known->second;
    }
    if (!replica.runs()) return;
    ServiceMemory::Seen& seen = attempts[job.attempt_id()] = memory.attempts[job.attempt_id()];
    const bool ready = replica.ready();
    seen.was_ready |= ready;
    keep(seen.ready_since, ready, now);
    keep(seen.not_ready_since, !ready, now);
    keep(seen.silent_alone_since, silent_alone(state, replica, limits, now), now);
    if (ready) memory.slow_starts.erase(job.id);
  };
  for (const ServiceStand& service : services) {
    std::ranges::for_each(service.own, note);
    std::ranges::for_each(service.earlier, note);
  }
  memory.attempts = std::move(attempts);
  memory.without_device = std::move(without_device);
  const auto is_gone = [&](const auto& entry) { return !state.indexes.services.contains(entry.first); };
  std::erase_if(memory.loads, is_gone);
  std::erase_if(memory.restarted, is_gone);
  std::erase_if(memory.slow_starts, [&](const auto& start) { return !find_job(state, start.first); });
}

}  // namespace podium
