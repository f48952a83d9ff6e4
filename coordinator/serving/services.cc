#include "coordinator/serving/services.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "common/base/units.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/serving/restarts.h"

namespace podium {
namespace {

// "40ms"
std::string millis_text(double millis) { return format_duration(Duration{std::llround(millis)}); }

std::string experiment_text(ExperimentId experiment) { return "experiment " + to_string(experiment); }

class Controller {
 public:
  Controller(const ClusterState& state, ServiceMemory& memory, const ServiceLimits& limits, Time now)
      : state_(state), memory_(memory), limits_(limits), now_(now) {}

  void look_after(const ServiceStand& service) {
    std::ranges::move(restarts(state_, service, memory_, limits_, now_), std::back_inserter(commands_));
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

  // One more of the new, until it is ready for good; then one less of the old.
  void roll(const ServiceStand& service) {
    const std::vector<ReplicaStand> own = active_of(service.own);
    std::vector<ReplicaStand> earlier = active_of(service.earlier);
    const std::string place =
        "takes the place of a replica of " + experiment_text(earlier.front().job->experiment);
    if (own.empty()) return void(promote(service, place));
    if (settled(own) < std::ssize(own)) return make_room(service, own, earlier);
    retire(least_needed(earlier));
    if (earlier.size() > 1) promote(service, place);
  }

  // How many have been ready for so long that they do not fail under the first requests.
  std::ptrdiff_t settled(const std::vector<ReplicaStand>& replicas) const {
    return std::ranges::count_if(replicas, [&](const ReplicaStand& replica) {
      if (!replica.ready()) return false;
      const auto& since = memory_.attempts.at(replica.job->attempt_id()).ready_since;
      return since && now_ - *since >= limits_.settled_for;
    });
  }

  // A replica that serves nothing goes at once, one that is ready where another one is, too, and none while
  // one is leaving.
  void make_room(const ServiceStand& service, const std::vector<ReplicaStand>& own,
                 const std::vector<ReplicaStand>& earlier) {
    const bool waits = std::ranges::any_of(own, [&](const ReplicaStand& replica) {
      const auto since = memory_.without_device.find(replica.job->id);
      return since != memory_.without_device.end() && now_ - since->second >= limits_.room_after;
    });
    const auto leaves = [](const ReplicaStand& replica) {
      return replica.job->attempt && replica.job->attempt->stop != StopCause::none;
    };
    if (!waits || std::ranges::any_of(service.own, leaves) || std::ranges::any_of(service.earlier, leaves))
      return;
    const ReplicaStand& victim = least_needed(earlier);
    if (victim.ready() && settled(own) + std::ssize(ready_of(earlier)) < 2) return;
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
    const bool all_ready = ready.size() == active.size();
    if (all_ready && leave_drained(service, active)) return void(load = {});
    follow_load(service, active, ready, load);
  }

  // One at a time starts again elsewhere while the others answer; a single one needs another beside it first.
  bool leave_drained(const ServiceStand& service, const std::vector<ReplicaStand>& active) {
    const auto leaver = std::ranges::find_if(active, [&](const ReplicaStand& replica) {
      const NodeId& id = replica.job->attempt->allocation.ranks.front().node;
      const Node* node = find_node(state_, id);
      return node && node->drain && node->drain->forbids(now_, now_ + Duration(1)) &&
             fits_without(state_, replica.job->request, {id});
    });
    if (leaver == active.end()) return false;
    if (active.size() == 1) return promote(service, "the node of the only replica is drained");
    commands_.push_back(restart(*leaver, "its node is drained"));
    return true;
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
    const bool all_ready = ready.size() == active.size();
    const bool full = lasts(load.full_since, all_ready && mean > limit, limits_.full_for);
    const bool idle = lasts(load.idle_since, longest < limit / limits_.idle_part, limits_.idle_for);
    if (full) {
      load = {};
      promote(service, "requests wait " + millis_text(mean) + " in the queues, and at most " +
                           millis_text(limit) + " are wished");
    } else if (idle && std::ssize(active) > service.replica.min) {
      load = {};
      commands_.emplace_back(
          PauseReplica{least_useful(active).job->id, "requests have waited less than " +
                                                         millis_text(limit / limits_.idle_part) + " for " +
                                                         format_duration(limits_.idle_for)});
    }
  }

  // One that answers nothing, else the last.
  static const ReplicaStand& least_useful(const std::vector<ReplicaStand>& replicas) {
    return *std::ranges::max_element(replicas, {}, [](const ReplicaStand& replica) {
      return std::tuple(!replica.ready(), replica.job->id);
    });
  }

  // Whether it has held for so long.
  bool lasts(std::optional<Time>& since, bool holds, Duration for_long) const {
    since = holds ? std::optional(since.value_or(now_)) : std::nullopt;
    return since && now_ - *since >= for_long;
  }

  // The first of those that wait, after `skip` others. False: there is none.
  bool promote(const ServiceStand& service, const std::string& why, std::ptrdiff_t skip = 0) {
    for (const ReplicaStand& replica : service.own) {
      if (!replica.job->paused || replica.job->held || replica.ends() || skip-- > 0) continue;
      commands_.emplace_back(PromoteReplica{replica.job->id, why});
      return true;
    }
    return false;
  }

  void retire(const ReplicaStand& replica) {
    if (!replica.ends()) commands_.emplace_back(CancelJob{replica.job->id});
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
  take_note(state, services, memory, limits, now);
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

Errors hindrance(const std::vector<Errors>& answers) {
  for (const Errors& refused : answers)
    if (!refused.empty() && refused.front().code != ErrorCode::conflict) return refused;
  return {};
}

}  // namespace podium
