#include "tests/sim/sim_cluster.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/core/policy.h"
#include "coordinator/core/why.h"

namespace podium::sim {
namespace {

bool same_orders(const NodeOrders& a, const NodeOrders& b) {
  const auto same = [](const TaskOrder& x, const TaskOrder& y) {
    const Launch &l = x.launch, &m = y.launch;
    return x.action == y.action && l.task == m.task && l.world_size == m.world_size && l.node == m.node &&
           l.device_index == m.device_index && l.local_rank == m.local_rank &&
           l.master_port == m.master_port && l.master_address == m.master_address && l.threads == m.threads;
  };
  return std::ranges::equal(a.tasks, b.tasks, same);
}

}  // namespace

SimCluster::SimCluster(std::vector<NodeDescription> nodes, const SchedulingOptions& scheduling) {
  state_.scheduling = scheduling;
  for (NodeDescription& node : nodes) nodes_.emplace_back(std::move(node), state_.limits.lease);
  turn(CoordinatorUp{});
}

Result<Events> SimCluster::turn(const Command& command) {
  auto events = handle(state_, command, now());
  const auto again = handle(state_, command, now());
  if (events.ok() != again.ok() || (events && *events != *again)) violate("handle gave two answers");
  if (events) absorb(*events);
  const bool stale = plan_.stale(state_, now()) || now() < planned_at_;
  plan_ = make_plan(state_, now());
  planned_at_ = now();
  const Plan& plan = plan_;
  if (!stale && !plan.start.empty()) violate("a plan that was not stale would start nothing");
  check_plan(plan);
  for (const auto& [id, job] : state_.jobs) {
    const bool starts = std::ranges::find(plan.start, id, &Start::job) != plan.start.end();
    if (job.state == JobState::queued && !starts && waiting_reason(state_, plan, id, now()).empty())
      violate("job " + to_string(id) + " waits without a reason");
  }
  absorb(enact(state_, plan, now()));
  plan_.carried_out(state_);
  check_carried_out(plan);
  check_promises();
  check_orders();
  check_grants();
  check_indexes();
  return events;
}

void SimCluster::absorb(const Events& events) {
  for (const Event& event : events) {
    check_event(event);
    apply(state_, event);
    if (is_durable(event)) log_.push_back(event);
  }
}

void SimCluster::pass(Duration duration, Random& random) {
  const Duration step = std::chrono::seconds(2);
  for (Duration done{0}; done < duration; done += step) {
    truth_ += step;
    for (SimNode& node : nodes_) {
      node.pass(truth_, random);
      if (!node.reachable()) continue;
      turn(NodeReported{node.report()});
      node.take_orders(node_orders(state_, node.description().id), truth_, random);
      if (!node.crime().empty()) violate(node.crime());
    }
    turn(Tick{});
  }
}

void SimCluster::restart_coordinator(Duration down, Random& random) {
  check_replay();
  const ClusterState empty = empty_state();
  plan_ = {};
  if (random.chance(50)) {
    state_ = cluster_state_from_json(to_json(state_), empty);
  } else {
    state_ = empty;
    apply_all(state_, log_);
  }
  truth_ += down;
  for (SimNode& node : nodes_) node.pass(truth_, random);
  turn(CoordinatorUp{});
}

void SimCluster::check_replay() {
  ClusterState replayed = empty_state();
  apply_all(replayed, log_);
  if (to_json(replayed) != to_json(state_)) violate("replaying the log gives another state");
  if (replayed.queues != state_.queues || replayed.timers != state_.timers ||
      replayed.leaving != state_.leaving || replayed.dependents != state_.dependents ||
      replayed.windows != state_.windows || replayed.resizing != state_.resizing ||
      replayed.elastic != state_.elastic || replayed.pools != state_.pools ||
      replayed.running != state_.running || replayed.impaired != state_.impaired ||
      replayed.node_ids != state_.node_ids)
    violate("replaying the log gives other indexes");
  if (to_json(cluster_state_from_json(to_json(state_), empty_state())) != to_json(state_))
    violate("a snapshot does not read back as it was");
}

ClusterState SimCluster::empty_state() const {
  ClusterState state;
  state.limits = state_.limits;
  state.scheduling = state_.scheduling;
  return state;
}

void SimCluster::check_event(const Event& event) {
  const auto job_id = job_of(event);
  if (job_id && ended_.contains(*job_id))
    violate("job " + to_string(*job_id) + " had ended, and then: " + describe(event));
  if (const auto* queued = std::get_if<JobQueued>(&event.body)) after_[queued->job] = queued->request.after;
  if (const auto* held = std::get_if<JobHeld>(&event.body)) held_.insert(held->job);
  if (const auto* released = std::get_if<JobReleased>(&event.body)) held_.erase(released->job);
  if (const auto* created = std::get_if<AttemptCreated>(&event.body)) check_start(*created, event.at);
  if (const auto* stopping = std::get_if<AttemptStopping>(&event.body)) check_preemption(*stopping);
  follow_resize(event);
  const auto* changed = std::get_if<JobStateChanged>(&event.body);
  if (!changed) return;
  if (!may_follow(changed->from, changed->to) || state_.jobs.at(changed->job).state != changed->from)
    violate("illegal transition: " + describe(event));
  if (is_terminal(changed->to)) ended_.emplace(changed->job, changed->to);
}

void SimCluster::check_start(const AttemptCreated& created, Time at) {
  const JobId id = created.attempt.job;
  check_size(state_.jobs.at(id), static_cast<int>(created.allocation.ranks.size()));
  for (const Placement& place : created.allocation.ranks) {
    const Node& node = state_.nodes.at(place.node);
    if (!node.usable()) violate("work was given to a node that is not usable");
    if (node.drain && node.drain->forbids(at, at + state_.jobs.at(id).request.walltime))
      violate("work was given to a node that is drained or will be before it ends");
    check_reservation(node, state_.jobs.at(id).request, at);
  }
  check_place(state_.jobs.at(id).request, created.allocation);
  check_limits(state_.jobs.at(id), static_cast<int>(created.allocation.ranks.size()));
  if (held_.contains(id)) violate("job " + to_string(id) + " started while it was held");
  for (const Dependency& on : after_[id]) {
    const auto end = ended_.find(on.job);
    if (end == ended_.end() || (on.when == When::ok && end->second != JobState::succeeded))
      violate("job " + to_string(id) + " started before job " + to_string(on.job) + " had ended as it must");
  }
}

void SimCluster::check_reservation(const Node& node, const JobRequest& request, Time at) {
  const std::optional<NodeReservation>& reserved = node.reservation;
  if (!reserved || (request.account + "/").starts_with(reserved->account + "/")) return;
  const bool before = reserved->from && at + request.walltime <= *reserved->from;
  const bool after = reserved->until && at >= *reserved->until;
  if (!before && !after) violate("work was given to a node that is reserved for another account");
}

// The demands a job makes of its nodes, by their labels alone.
void SimCluster::check_place(const JobRequest& request, const Allocation& allocation) {
  std::set<NodeId> nodes;
  std::set<std::pair<std::string, std::string>> switches;
  for (const Placement& place : allocation.ranks) {
    const Labels labels = labels_of(state_.nodes.at(place.node));
    for (const auto& [key, value] : request.nodes)
      if (!labels.contains(key) || labels.at(key) != value) violate("a node lacks a label its job asks for");
    nodes.insert(place.node);
    const std::string spine = labels.contains("spine") ? labels.at("spine") : "";
    switches.emplace(spine, labels.contains("switch") ? labels.at("switch") : "none of " + place.node.value);
  }
  if (request.within == Within::node && nodes.size() > 1) violate("a job within one node got several");
  if (request.within == Within::leaf_switch && nodes.size() > 1 && switches.size() > 1)
    violate("a job within one switch got several");
}

int SimCluster::held_by(const std::string& account, const std::string& kind, bool leaving) const {
  int devices = 0;
  for (const auto& [id, job] : state_.jobs)
    if (job.attempt && job.request.kind == kind && (job.request.account + "/").starts_with(account + "/") &&
        (leaving || job.attempt->stop == StopCause::none))
      devices += static_cast<int>(job.attempt->allocation.ranks.size());
  return devices;
}

void SimCluster::check_limits(const Job& starts, int devices) {
  for (const auto& [name, account] : state_.accounts) {
    const auto limit = account.rules.limit.find(starts.request.kind);
    if (limit == account.rules.limit.end() || !(starts.request.account + "/").starts_with(name + "/"))
      continue;
    if (held_by(name, starts.request.kind, true) + devices > limit->second)
      violate("job " + to_string(starts.id) + " takes account " + name + " beyond its limit");
  }
}

// Whoever the room is for, an account that holds no more than its quota gives nothing to others.
void SimCluster::check_preemption(const AttemptStopping& stopping) {
  if (stopping.cause != StopCause::preempted) return;
  const Job& victim = state_.jobs.at(stopping.attempt.job);
  const JobId winner{std::stoll(stopping.reason.substr(stopping.reason.rfind(' ') + 1))};
  const std::string& to = state_.jobs.at(winner).request.account;
  for (const auto& [name, account] : state_.accounts) {
    const auto quota = account.rules.quota.find(victim.request.kind);
    if (quota == account.rules.quota.end() || (to + "/").starts_with(name + "/") ||
        !(victim.request.account + "/").starts_with(name + "/"))
      continue;
    if (held_by(name, victim.request.kind, false) <= quota->second)
      violate("account " + name + " is within its quota and lost job " + to_string(victim.id));
  }
  const Duration left = victim.attempt->created + victim.request.walltime - now();
  if (left < std::min<Duration>(std::chrono::minutes(10), victim.request.walltime / 2))
    violate("job " + to_string(victim.id) + " was preempted when it was almost done");
}

void SimCluster::check_size(const Job& starts, int devices) {
  const std::vector<int>& sizes = starts.request.sizes;
  const bool permitted =
      sizes.empty() ? devices == starts.request.devices : std::ranges::count(sizes, devices) == 1;
  if (!permitted)
    violate("job " + to_string(starts.id) + " started on " + std::to_string(devices) + " devices");
}

// A job that stops for another size gets it, at once, unless the cluster changes meanwhile: nobody else may
// have what was kept for it.
void SimCluster::follow_resize(const Event& event) {
  const auto is = [&]<class... Body>() { return (std::holds_alternative<Body>(event.body) || ...); };
  if (is.operator()<NodeStateChanged, NodeChanged, NodeStraysCounted, NodeDrained, NodeResumed, NodeLabelled,
                    NodeReserved, NodeUnreserved, AccountChanged>())
    promised_.clear();
  const auto id = job_of(event);
  if (!id) return;
  const Job* job = find_job(state_, *id);
  const auto promise = promised_.find(*id);
  if (const auto* planned = std::get_if<ResizePlanned>(&event.body)) {
    check_resize(*job, planned->resize);
    if (state_.windows.empty()) promised_[*id] = planned->resize.to;
  } else if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
    if (promise != promised_.end() && std::ssize(created->allocation.ranks) != promise->second)
      violate("job " + to_string(*id) + " stopped for " + std::to_string(promise->second) +
              " devices and got others");
    promised_.erase(*id);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    if (ended->end != AttemptEnd::resized) promised_.erase(*id);
  } else if (is.operator()<JobHeld>()) {
    promised_.erase(*id);
  }
}

void SimCluster::check_resize(const Job& job, const Resize& resize) {
  const std::string name = "job " + to_string(job.id);
  if (job.state != JobState::running || job.held) violate(name + " was resized while it did not run freely");
  if (now() - job.attempt->created < state_.scheduling.resize_after) violate(name + " was resized too soon");
  if (resize.from != std::ssize(job.attempt->allocation.ranks) || resize.from == resize.to)
    violate(name + " was resized from a size it did not have");
  check_size(job, resize.to);
  if (resize.grows() == resize.room_for.has_value()) violate(name + " grew for another or shrank for nobody");
  if (resize.room_for && state_.jobs.at(*resize.room_for).state != JobState::queued)
    violate(name + " shrank for a job that does not wait");
  const bool just_saved =
      job.saved && *job.saved >= job.attempt->created && now() - *job.saved <= std::chrono::minutes(1);
  if (resize.grows() && job.request.saves && !just_saved) violate(name + " grew long after its checkpoint");
}

void SimCluster::check_promises() {
  for (const auto& [id, devices] : promised_)
    if (const Job* job = find_job(state_, id); job && job->state == JobState::queued && !job->not_before)
      violate("job " + to_string(id) + " stopped for another size and was not started again at once");
}

// Devices go to jobs that wait before others grow.
void SimCluster::check_growth(const Plan& plan) {
  for (const Resizing& resizing : plan.resize) {
    if (!resizing.resize.grows()) continue;
    const std::string& kind = state_.jobs.at(resizing.job).request.kind;
    for (const auto& [id, blocker] : plan.blocked) {
      const bool starved = blocker.code == BlockerCode::devices || blocker.code == BlockerCode::reserved ||
                           blocker.code == BlockerCode::maintenance;
      if (starved && state_.jobs.at(id).request.kind == kind)
        violate("job " + to_string(resizing.job) + " grew while job " + to_string(id) + " waited");
    }
  }
}

// The same state gives the same plan.
void SimCluster::check_plan(const Plan& plan) {
  const Plan again = make_plan(state_, now());
  const auto same_start = [](const Start& a, const Start& b) {
    return a.job == b.job && a.allocation == b.allocation;
  };
  const auto same_resize = [](const Resizing& a, const Resizing& b) {
    return a.job == b.job && a.resize == b.resize;
  };
  const auto same_victim = [](const Preemption& a, const Preemption& b) { return a.job == b.job; };
  if (!std::ranges::equal(plan.start, again.start, same_start) ||
      !std::ranges::equal(plan.preempt, again.preempt, same_victim) ||
      !std::ranges::equal(plan.resize, again.resize, same_resize) || plan.blocked != again.blocked)
    violate("one state gave two plans");
  check_growth(plan);
}

// A plan that was carried out leaves nothing to do, and nobody whom it started delays the first of those
// that have devices reserved. But what it gives an account moves that account's turn, and may put it beyond
// its quota.
void SimCluster::check_carried_out(const Plan& plan) {
  const auto has_quota = [](const auto& account) { return !account.second.rules.quota.empty(); };
  if (policy_of(state_.scheduling.policy).by_account() || std::ranges::any_of(state_.accounts, has_quota))
    return;
  const Plan next = make_plan(state_, now());
  for (const Start& start : next.start) violate("only a second plan starts job " + to_string(start.job));
  for (const Preemption& stop : next.preempt) violate("only a second plan stops job " + to_string(stop.job));
  for (const Resizing& resizing : next.resize)
    violate("only a second plan resizes job " + to_string(resizing.job));
  std::set<std::string> kinds;
  for (const Reservation& promised : plan.reservations) {
    const bool first = kinds.insert(state_.jobs.at(promised.job).request.kind).second;
    const auto kept = std::ranges::find(next.reservations, promised.job, &Reservation::job);
    if (first && kept != next.reservations.end() && kept->at > promised.at)
      violate("job " + to_string(promised.job) + " was promised its start, and passed by one that delays it");
  }
}

void SimCluster::check_orders() {
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
    for (const Placement& place : job.attempt->allocation.ranks)
      if (!granted.emplace(std::pair{place.node, place.device}, id).second)
        violate("a device was granted twice");
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
  std::size_t queued = 0, timed = 0, leaving = 0, in_queues = 0;
  for (const auto& [id, job] : state_.jobs) {
    const auto timer = next_timer(job);
    if (timer) ++timed;
    if (timer && !state_.timers.contains({*timer, id})) violate("a job's timer is not in the index");
    if (job.attempt && job.attempt->stop != StopCause::none) ++leaving;
    if (!job.in_line()) continue;
    ++queued;
    const Queue& queue = state_.queues.at(job.request.kind);
    if (!queue.at(line_key(job.request)).contains(queue_key(state_, job)))
      violate("a queued job is not in its queue");
  }
  for (const auto& [kind, queue] : state_.queues)
    for (const auto& [shape, jobs] : queue) in_queues += jobs.size();
  if (queued != in_queues || timed != state_.timers.size() || leaving != state_.leaving.size())
    violate("an index holds what it should not");
  check_pools();
}

void SimCluster::check_pools() {
  std::map<PoolKey, std::int64_t> users;
  for (const auto& [id, job] : state_.jobs)
    if (!job.request.nodes.empty()) ++users[{job.request.kind, job.request.nodes}];
  std::size_t asked_for = 0;
  for (const auto& [key, pool] : state_.pools) {
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

std::string SimCluster::describe_jobs() const {
  const Plan plan = make_plan(state_, now());
  std::string text;
  for (const auto& [id, job] : state_.jobs)
    text += "\njob " + to_string(id) + " is " + std::string(to_string(job.state)) + " " +
            waiting_reason(state_, plan, id, now());
  return text;
}

std::string SimCluster::last_events() const {
  constexpr std::size_t kMost = 30;
  std::string text;
  for (std::size_t i = log_.size() - std::min(log_.size(), kMost); i < log_.size(); ++i) {
    const auto job = job_of(log_[i]);
    text += "\n" + format_time(log_[i].at) + (job ? " job " + to_string(*job) : "") + " " + describe(log_[i]);
  }
  return text;
}

void SimCluster::violate(const std::string& what) {
  if (violation_.empty()) violation_ = what + " (event " + std::to_string(log_.size()) + " of the log)";
}

}  // namespace podium::sim
