// What holds between turns: orders, holders of devices, and indexes that say what a walk over the state says.
#include <algorithm>

#include "coordinator/core/policies/policy.h"
#include "tests/sim/sim_cluster.h"

namespace podium::sim {
namespace {

bool same_orders(const NodeOrders& a, const NodeOrders& b) {
  const auto same = [](const TaskOrder& x, const TaskOrder& y) {
    const Launch &l = x.launch, &m = y.launch;
    const bool same_action = (x.action == TaskAction::stop) == (y.action == TaskAction::stop);
    return same_action && l.task == m.task && l.world_size == m.world_size && l.node == m.node &&
           devices_of(l) == devices_of(m) && l.local_rank == m.local_rank && l.master_port == m.master_port &&
           l.master_address == m.master_address && l.threads == m.threads;
  };
  return std::ranges::equal(a.tasks, b.tasks, same);
}

}  // namespace

void SimCluster::check_orders() {
  std::erase_if(orders_, [&](const auto& entry) { return !state_.nodes.contains(entry.first); });
  for (const auto& [id, node] : state_.nodes) {
    const NodeOrders now_ordered = node_orders(state_, id);
    const NodeOrders& before = orders_[id];
    const bool other_tasks = !same_orders(before, now_ordered);
    if (before.version != 0 && other_tasks != (before.version != now_ordered.version))
      violate("the orders of " + id.value +
              (other_tasks ? " changed under version " : " kept, but not their version ") +
              std::to_string(now_ordered.version));
    orders_[id] = now_ordered;
  }
}

// Holders and allocations are two sides of one thing.
void SimCluster::check_grants() {
  std::map<std::pair<NodeId, int>, JobId> granted;
  for (const auto& [id, job] : state_.jobs) {
    const bool active =
        job.state == JobState::starting || job.state == JobState::running || job.state == JobState::stopping;
    if (active != job.attempt.has_value())
      violate("job " + to_string(id) + " is " + std::string(to_string(job.state)));
    if (!job.attempt) continue;
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
      if (job.attempt->stop != StopCause::none && job.attempt->tasks[rank].exit) continue;  // given back
      const Placement& place = job.attempt->allocation.ranks[rank];
      place.each_device([&](int device) {
        if (!granted.emplace(std::pair{place.node, device}, id).second) violate("a device was granted twice");
      });
    }
  }
  std::size_t held = 0;
  for (const auto& [id, node] : state_.nodes)
    for (const DeviceSlot& slot : node.devices) {
      if (!slot.holder) continue;
      ++held;
      const auto grant = granted.find({id, slot.device.index});
      if (grant == granted.end() || grant->second != *slot.holder)
        violate("a device has a holder without a grant");
    }
  if (held != granted.size()) violate("a grant has no holder");
}

void SimCluster::check_indexes() {
  std::size_t queued = 0, timed = 0, dated = 0, leaving = 0, in_queues = 0;
  std::map<std::string, std::set<JobId>> services;
  for (const auto& [id, job] : state_.jobs) {
    if (job.request.replica) services[job.request.replica->service].insert(id);
    const auto timer = next_timer(job);
    if (timer) ++timed;
    if (timer && !state_.indexes.timers.contains({*timer, id})) violate("a job's timer is not in the index");
    const auto deadline = next_deadline(job, state_.limits);
    if (deadline) ++dated;
    if (deadline && !state_.indexes.deadlines.contains({*deadline, id}))
      violate("a job's deadline is not in the index");
    if (job.attempt && job.attempt->stop != StopCause::none) ++leaving;
    if (!job.in_line()) continue;
    ++queued;
    const Queue& queue = state_.indexes.queues.at(job.request.kind);
    if (!queue.at(class_of(job.request)).contains(queue_key(state_, job)))
      violate("a queued job is not in its queue");
  }
  for (const auto& [kind, queue] : state_.indexes.queues)
    for (const auto& [shape, jobs] : queue) in_queues += jobs.size();
  if (queued != in_queues || timed != state_.indexes.timers.size() ||
      dated != state_.indexes.deadlines.size() || leaving != state_.indexes.leaving.size() ||
      services != state_.indexes.services)
    violate("an index holds what it should not");
  check_pools();
}

void SimCluster::check_pools() {
  std::map<PoolKey, std::int64_t> users;
  for (const auto& [id, job] : state_.jobs)
    if (!job.request.nodes.empty()) ++users[{job.request.kind, job.request.nodes}];
  std::size_t asked_for = 0;
  for (const auto& [key, pool] : state_.indexes.pools) {
    if (!key.nodes.empty()) ++asked_for;
    if (!key.nodes.empty() && users[key] != pool.users) violate("a pool miscounts the jobs that ask for it");
    for (const auto& [id, node] : state_.nodes) check_pool(key, pool, node);
  }
  if (asked_for != users.size()) violate("a pool that nobody asks for stays, or one is missing");
}

void SimCluster::check_pool(const PoolKey& key, const DevicePool& pool, const Node& node) {
  const Labels labels = labels_of(node);
  const bool member = std::ranges::all_of(key.nodes, [&](const auto& wanted) {
    return labels.contains(wanted.first) && labels.at(wanted.first) == wanted.second;
  });
  int free = 0, capacity = 0;
  for (const DeviceSlot& slot : node.devices) {
    if (!member || slot.device.kind != key.kind) continue;
    ++capacity;
    if (node.usable() && !slot.holder && slot.device.health.empty()) ++free;
  }
  if (pool.free.free(node.ordinal) != free || pool.capacity.free(node.ordinal) != capacity)
    violate("a pool miscounts the " + key.kind + " devices of " + node.description.id.value);
}

}  // namespace podium::sim
