#include "coordinator/serving/restarts.h"

#include <algorithm>

#include "common/base/units.h"

namespace podium {
namespace {

bool its_node_is_up(const ClusterState& state, const ReplicaStand& replica) {
  const Node* node = find_node(state, replica.job->attempt->allocation.ranks.front().node);
  return node && node->state == NodeState::up;
}

bool is_silent(const ReplicaStand& replica, const ServiceMemory::Seen& seen, const ServiceLimits& limits,
               Time now) {
  return seen.was_ready && replica.health && replica.health->silent >= limits.silent_for &&
         seen.silent_alone_since && now - *seen.silent_alone_since >= limits.heard_for;
}

// A model that took too long to load has twice the time at the next start.
Duration ready_within(JobId job, const ServiceMemory& memory, const ServiceLimits& limits) {
  const auto slow = memory.slow_starts.find(job);
  Duration within = limits.ready_within;
  for (int i = 0; slow != memory.slow_starts.end() && i < slow->second && within < limits.longest_start; ++i)
    within *= 2;
  return std::min(within, std::max(limits.ready_within, limits.longest_start));
}

bool one_was_restarted(const std::string& service, const ServiceMemory& memory, const ServiceLimits& limits,
                       Time now) {
  const auto last = memory.restarted.find(service);
  return last != memory.restarted.end() && now - last->second < limits.restart_apart;
}

}  // namespace

Command restart(const ReplicaStand& replica, const std::string& why) {
  return RequeueJob{.job = replica.job->id, .reason = "started again, for " + why};
}

std::vector<Command> restarts(const ClusterState& state, const ServiceStand& service, ServiceMemory& memory,
                              const ServiceLimits& limits, Time now) {
  std::vector<Command> commands;
  const auto judge = [&](const ReplicaStand& replica) {
    if (!replica.runs() || !its_node_is_up(state, replica)) return;
    const JobId job = replica.job->id;
    const ServiceMemory::Seen& seen = memory.attempts.at(replica.job->attempt_id());
    if (!seen.not_ready_since) return;
    const Duration within = ready_within(job, memory, limits);
    if (is_silent(replica, seen, limits, now)) {
      if (one_was_restarted(service.name, memory, limits, now)) return;
      memory.restarted[service.name] = now;
      commands.push_back(restart(replica, "it has not answered for " + format_duration(limits.silent_for)));
    } else if (now - *seen.not_ready_since >= within) {
      if (!seen.was_ready) ++memory.slow_starts[job];
      commands.push_back(restart(replica, "it has not been ready for " + format_duration(within)));
    }
  };
  std::ranges::for_each(service.own, judge);
  std::ranges::for_each(service.earlier, judge);
  return commands;
}

std::string why_unready(const ReplicaStand& replica, const ServiceMemory& memory, const ServiceLimits& limits,
                        Time now) {
  if (!replica.runs() || replica.ready()) return "";
  const auto seen = memory.attempts.find(replica.job->attempt_id());
  if (seen == memory.attempts.end() || !seen->second.not_ready_since) return "";
  const auto since = std::chrono::floor<std::chrono::seconds>(now - *seen->second.not_ready_since);
  return "has not been ready for " + format_duration(since) + " and starts again after " +
         format_duration(ready_within(replica.job->id, memory, limits));
}

}  // namespace podium
