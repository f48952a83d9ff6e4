#include "coordinator/serving/services.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "common/base/units.h"

namespace podium {
namespace {

// "40ms"
std::string millis_text(double millis) { return format_duration(Duration{std::llround(millis)}); }

std::string experiment_text(ExperimentId experiment) { return "experiment " + to_string(experiment); }

// Forgets replicas that run no more, and notes since when the others are ready or not.
void look(const std::vector<ServiceStand>& services, ServiceMemory& memory, Time now) {
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
    if (!ready) seen.ready_since.reset();
    if (ready) seen.not_ready_since.reset();
    std::optional<Time>& since = ready ? seen.ready_since : seen.not_ready_since;
    if (!since) since = now;
  };
  for (const ServiceStand& service : services) {
    std::ranges::for_each(service.own, note);
    std::ranges::for_each(service.earlier, note);
  }
  memory.attempts = std::move(attempts);
  memory.without_device = std::move(without_device);
  std::erase_if(memory.loads, [&](const auto& load) {
    return std::ranges::find(services, load.first, &ServiceStand::name) == services.end();
  });
}

class Controller {
 public:
  Controller(const ClusterState& state, ServiceMemory& memory, const ServiceLimits& limits, Time now)
      : state_(state), memory_(memory), limits_(limits), now_(now) {}

  void look_after(const ServiceStand& service) {
    restart_silent(service.own);
    restart_silent(service.earlier);
    settle(service);
  }

  std::vector<Command> take() { return std::move(commands_); }

 private:
  // A halted experiment is left alone: the service goes on as it was before it.
  void settle(const ServiceStand& service) {
    switch (roll_of(service)) {
      case Roll::halted:
        return settle(without_newest(service));
      case Roll::rolling:
        memory_.loads.erase(service.name);
        return roll(service);
      case Roll::none:
        for (const ReplicaStand& replica : service.earlier) retire(replica);
        return scale(service);
    }
  }

  void restart_silent(const std::vector<ReplicaStand>& replicas) {
    for (const ReplicaStand& replica : replicas) {
      if (!replica.runs() || !its_node_is_up(replica)) continue;  // a node that is lost is the core's matter
      const ServiceMemory::Seen& seen = memory_.attempts.at(replica.job->attempt_id());
      if (!seen.not_ready_since) continue;
      const Duration silent = replica.health ? replica.health->silent : Duration{};
      if (seen.was_ready && silent >= limits_.silent_for)
        restart(replica, "it has not answered for " + format_duration(limits_.silent_for));
      else if (now_ - *seen.not_ready_since >= limits_.ready_within)
        restart(replica, "it has not been ready for " + format_duration(limits_.ready_within));
    }
  }

  bool its_node_is_up(const ReplicaStand& replica) const {
    const Node* node = find_node(state_, replica.job->attempt->allocation.ranks.front().node);
    return node && node->state == NodeState::up;
  }

  // One more of the new, until it is ready; then one less of the old.
  void roll(const ServiceStand& service) {
    const std::vector<ReplicaStand> own = active_of(service.own);
    std::vector<ReplicaStand> earlier = active_of(service.earlier);
    const std::string place =
        "takes the place of a replica of " + experiment_text(earlier.front().job->experiment);
    if (own.empty()) return promote(service, place);
    if (ready_of(own).size() < own.size()) return make_room(own, earlier);
    retire(least_needed(earlier));
    if (earlier.size() > 1) promote(service, place);
  }

  // A replica that serves nothing goes at once, one that is ready where another one is, too.
  void make_room(const std::vector<ReplicaStand>& own, const std::vector<ReplicaStand>& earlier) {
    const bool waits = std::ranges::any_of(own, [&](const ReplicaStand& replica) {
      const auto since = memory_.without_device.find(replica.job->id);
      return since != memory_.without_device.end() && now_ - since->second >= limits_.room_after;
    });
    if (!waits) return;
    const ReplicaStand& victim = least_needed(earlier);
    if (victim.ready() && ready_of(own).size() + ready_of(earlier).size() < 2) return;
    retire(victim);
    for (const ReplicaStand& replica : own) memory_.without_device.erase(replica.job->id);
  }

  static const ReplicaStand& least_needed(const std::vector<ReplicaStand>& replicas) {
    return *std::ranges::min_element(replicas, {}, [](const ReplicaStand& replica) {
      return std::tuple(replica.ready(), replica.job->attempt.has_value(), replica.job->id);
    });
  }

  void scale(const ServiceStand& service) {
    const std::vector<ReplicaStand> active = active_of(service.own);
    for (auto missing = service.replica.min - std::ssize(active); missing > 0; --missing)
      promote(service, "the service has at least " + std::to_string(service.replica.min), missing - 1);
    const std::vector<ReplicaStand> ready = ready_of(active);
    ServiceMemory::Load& load = memory_.loads[service.name];
    if (ready.empty()) return void(load = {});
    follow_load(service, active, ready, load);
  }

  void follow_load(const ServiceStand& service, const std::vector<ReplicaStand>& active,
                   const std::vector<ReplicaStand>& ready, ServiceMemory::Load& load) {
    double sum = 0, longest = 0;
    for (const ReplicaStand& replica : ready) {
      sum += replica.health->queue_ms;
      longest = std::max(longest, replica.health->queue_ms);
    }
    const double mean = sum / static_cast<double>(ready.size());
    const auto limit = static_cast<double>(service.replica.queue.count());
    const bool full = lasts(load.full_since, mean > limit, limits_.full_for);
    const bool idle = lasts(load.idle_since, longest < limit / limits_.idle_part, limits_.idle_for);
    if (full && ready.size() == active.size()) {
      load = {};
      promote(service, "requests wait " + millis_text(mean) + " in the queues, and at most " +
                           millis_text(limit) + " are wished");
    } else if (idle && std::ssize(active) > service.replica.min) {
      load = {};
      commands_.emplace_back(PauseReplica{
          active.back().job->id, "requests have waited less than " + millis_text(limit / limits_.idle_part) +
                                     " for " + format_duration(limits_.idle_for)});
    }
  }

  // Whether it has held for so long.
  bool lasts(std::optional<Time>& since, bool holds, Duration for_long) const {
    since = holds ? std::optional(since.value_or(now_)) : std::nullopt;
    return since && now_ - *since >= for_long;
  }

  // The first of those that wait, after `skip` others.
  void promote(const ServiceStand& service, const std::string& why, std::ptrdiff_t skip = 0) {
    for (const ReplicaStand& replica : service.own) {
      if (!replica.job->paused || replica.job->held || replica.ends() || skip-- > 0) continue;
      commands_.emplace_back(PromoteReplica{replica.job->id, why});
      return;
    }
  }

  void retire(const ReplicaStand& replica) {
    if (!replica.ends()) commands_.emplace_back(CancelJob{replica.job->id});
  }

  void restart(const ReplicaStand& replica, const std::string& why) {
    commands_.emplace_back(RequeueJob{.job = replica.job->id, .reason = "started again, for " + why});
  }

  const ClusterState& state_;
  ServiceMemory& memory_;
  const ServiceLimits& limits_;
  Time now_;
  std::vector<Command> commands_;
};

}  // namespace

std::vector<Command> steps(const ClusterState& state, const ReplicasHealth& health, ServiceMemory& memory,
                           const ServiceLimits& limits, Time now) {
  const std::vector<ServiceStand> services = services_of(state, health);
  look(services, memory, now);
  Controller controller(state, memory, limits, now);
  for (const ServiceStand& service : services) controller.look_after(service);
  return controller.take();
}

std::vector<Command> stop_service(const ServiceStand& service) {
  std::vector<Command> commands;
  for (const auto* replicas : {&service.own, &service.earlier})
    for (const ReplicaStand& replica : *replicas) commands.emplace_back(CancelJob{replica.job->id});
  return commands;
}

}  // namespace podium
