// PriorityPolicy: one pass over each kind's queue. Nothing here depends on how many jobs wait behind a
// blocked one.
#include <algorithm>
#include <climits>

#include "common/base/time.h"
#include "coordinator/core/placement.h"
#include "coordinator/core/plan.h"

namespace podium {
namespace {

// Nodes with fewer devices than `below`, and not those the job should avoid while there are others it could
// use.
Room open_to(const ClusterState& state, const Room& room, const Job& job, int below) {
  Room open = room;
  for (NodeRoom& node : open)
    if (node.capacity >= below) node.free.clear();
  if (job.avoid.empty()) return open;
  ClusterState others;
  for (const auto& [id, node] : state.nodes)
    if (std::ranges::find(job.avoid, id) == job.avoid.end()) others.nodes.emplace(id, node);
  if (others.nodes.empty() || never_fits(others, job.request)) return open;
  for (NodeRoom& node : open)
    if (!others.nodes.contains(node.node)) node.free.clear();
  return open;
}

bool none_free(const Room& room) {
  return std::ranges::all_of(room, [](const NodeRoom& n) { return n.free.empty(); });
}

// Running jobs on devices of this kind, those to stop first in front: lowest priority, then youngest attempt.
std::vector<const Job*> victims(const ClusterState& state, const Room& room, const std::string& kind) {
  std::vector<const Job*> jobs;
  for (const NodeRoom& here : room)
    for (const DeviceSlot& slot : state.nodes.at(here.node).devices)
      if (slot.holder && slot.device.kind == kind) jobs.push_back(&state.jobs.at(*slot.holder));
  const auto earlier = [](const Job* a, const Job* b) {
    if (a->request.priority != b->request.priority) return a->request.priority < b->request.priority;
    return std::pair{a->attempt->created, a->id} > std::pair{b->attempt->created, b->id};
  };
  std::ranges::sort(jobs, earlier);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

void return_devices(const Job& job, Room& room) {
  for (const Placement& place : job.attempt->allocation.ranks) {
    const auto here = std::ranges::find(room, place.node, &NodeRoom::node);
    if (here != room.end()) here->free.push_back(place.device);
  }
}

// Who must go for the blocked job to start; nobody when those already leaving suffice, or nothing would.
std::vector<Preemption> make_room(const ClusterState& state, Room room, const Job& blocked) {
  const auto candidates = victims(state, room, blocked.request.kind);
  for (const Job* job : candidates)
    if (job->attempt->stop != StopCause::none) return_devices(*job, room);
  std::vector<Preemption> preempt;
  for (const Job* job : candidates) {
    if (choose(room, blocked.request)) return preempt;
    if (job->attempt->stop != StopCause::none || job->request.priority >= blocked.request.priority) continue;
    return_devices(*job, room);
    preempt.push_back({job->id, "makes room for job " + to_string(blocked.id)});
  }
  return choose(room, blocked.request) ? preempt : std::vector<Preemption>{};
}

// The smallest number of devices the job takes on any of its nodes: smaller nodes are no use to it.
int smallest_share(const JobRequest& request) {
  if (request.per_node == 0) return 1;
  const int rest = request.devices % request.per_node;
  return rest > 0 ? rest : request.per_node;
}

void schedule_kind(const ClusterState& state, const std::string& kind, Time now, bool may_preempt,
                   Plan& plan) {
  Room room = room_of(state, kind);
  int kept_from = INT_MAX;  // nodes with at least so many devices are kept for a blocked job
  for (const QueueKey& key : state.queues.at(kind)) {
    const Job& job = state.jobs.at(key.job);
    if (job.not_before && *job.not_before > now) {
      plan.blocked[job.id] =
          "failed several times soon after its start; starts again at " + format_time(*job.not_before);
      continue;
    }
    const Room open = open_to(state, room, job, kept_from);
    const bool first_blocked = kept_from == INT_MAX;
    if (!first_blocked && none_free(open)) return;
    if (const auto shares = choose(open, job.request)) {
      const auto nth = state.attempts_created + std::ssize(plan.start);
      plan.start.push_back({job.id, allocate(state, room, *shares, nth)});
      continue;
    }
    if (const auto never = never_fits(state, job.request)) {  // queued before all nodes were known
      plan.blocked[job.id] = *never;
      continue;
    }
    plan.blocked[job.id] = shortage(open, job.request);
    if (first_blocked && may_preempt) {
      auto preempt = make_room(state, room, job);
      plan.preempt.insert(plan.preempt.end(), preempt.begin(), preempt.end());
    }
    kept_from = std::min(kept_from, smallest_share(job.request));
  }
}

}  // namespace

void PriorityPolicy::schedule(const ClusterState& state, Time now, Plan& plan) const {
  for (const auto& [kind, queue] : state.queues) schedule_kind(state, kind, now, preempt_, plan);
}

}  // namespace podium
