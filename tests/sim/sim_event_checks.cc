// What may happen: every event, and every plan, is judged by the state before it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "coordinator/core/policies/policy.h"
#include "tests/sim/sim_cluster.h"

namespace podium::sim {

void SimCluster::check_event(const Event& event) {
  const auto job_id = job_of(event);
  if (const auto* recalled = std::get_if<JobRecalled>(&event.body)) {
    if (ended_.at(recalled->job) != recalled->from || recalled->from == JobState::succeeded)
      violate("job " + to_string(recalled->job) + " goes on from an end that it did not have");
    ended_.erase(recalled->job);
    held_.erase(recalled->job);
    after_[recalled->job] = recalled->request.after;
  }
  const bool may_have_ended = std::holds_alternative<RungReached>(event.body);
  if (job_id && !may_have_ended && ended_.contains(*job_id))
    violate("job " + to_string(*job_id) + " had ended, and then: " + describe(event));
  if (const auto* queued = std::get_if<JobQueued>(&event.body)) {
    check_number(queued->job);
    after_[queued->job] = queued->request.after;
    requests_[queued->job] = *queued;
  }
  if (const auto* run = std::get_if<RunTracked>(&event.body)) {
    check_number(run->job);
    tracked_.insert(run->job);
  }
  if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
    int& last = last_attempt_[created->attempt.job];
    if (created->attempt.number != last + 1) violate("an attempt's number does not follow the one before");
    last = created->attempt.number;
  }
  if (const auto* met = std::get_if<DependencyMet>(&event.body)) {
    std::erase_if(after_[met->job], [&](const Dependency& on) {
      const auto end = ended_.find(on.job);
      return on.job == met->on && end != ended_.end() &&
             (on.when == When::any || end->second == JobState::succeeded);
    });
  }
  check_restored(event);
  if (const auto* held = std::get_if<JobHeld>(&event.body)) {
    held_.insert(held->job);
    last_attempt_[held->job] = std::max(last_attempt_[held->job], held->attempts);
    if (!held->reason.empty() && !restored_)
      violate("a job was held as if the database were an older one: " + describe(event));
  }
  if (const auto* lost = std::get_if<TaskLost>(&event.body);
      lost && !restored_ && lost->reason.find("after this database was copied") != std::string::npos)
    violate("a task was lost as if the database were an older one");
  if (const auto* released = std::get_if<JobReleased>(&event.body)) held_.erase(released->job);
  if (const auto* created = std::get_if<AttemptCreated>(&event.body)) check_start(*created, event.at);
  if (const auto* stopping = std::get_if<AttemptStopping>(&event.body)) check_preemption(*stopping);
  if (const auto* drained = std::get_if<NodeDrained>(&event.body)) check_blame(*drained);
  follow_resize(event);
  follow_deadlines(event);
  const auto* changed = std::get_if<JobStateChanged>(&event.body);
  if (!changed) return;
  if (!may_follow(changed->from, changed->to) || state_.jobs.at(changed->job).state != changed->from)
    violate("illegal transition: " + describe(event));
  if (is_terminal(changed->to)) ended_.emplace(changed->job, changed->to);
}

void SimCluster::check_number(JobId given) {
  if (requests_.contains(given) || tracked_.contains(given) || given <= lost_)
    violate("the number " + to_string(given) + " is given twice");
  recorded_ = std::max(recorded_, given);
}

// A job of the restored copy that has ended since. That counts where a node that the coordinator waits for
// knows more of it than the copy.
void SimCluster::hold_back(const Job& job) {
  for (const SimNode& node : nodes_) {
    const NodeId& name = node.description().id;
    const Node* known = find_node(state_, name);
    if (!known || known->state == NodeState::lost || !node.reachable()) continue;
    bool knows_more = node.newest_seen(job.id) > job.attempts;
    for (std::size_t rank = 0; job.attempt && rank < job.attempt->tasks.size(); ++rank) {
      const Task& task = job.attempt->tasks[rank];
      const TaskId id{job.attempt_id(), static_cast<int>(rank)};
      knows_more |= job.attempt->allocation.ranks[rank].node == name && task.listed && !task.over() &&
                    node.newest_forgotten(job.id) >= job.attempts && !node.processes().contains(id);
    }
    if (knows_more) held_back_.insert(job.id);
  }
}

// Before an operator's word none of these runs, and no number is given that a node has seen.
void SimCluster::check_restored(const Event& event) {
  if (const auto* released = std::get_if<JobReleased>(&event.body)) held_back_.erase(released->job);
  if (const auto* recalled = std::get_if<JobRecalled>(&event.body)) held_back_.erase(recalled->job);
  const auto* created = std::get_if<AttemptCreated>(&event.body);
  if (!created) return;
  const auto [job, number] = created->attempt;
  if (held_back_.contains(job)) violate("job " + to_string(job) + " had ended and runs again");
  for (const SimNode& node : nodes_) {
    const Node* known = find_node(state_, node.description().id);
    const bool heard =
        known && known->state == NodeState::up && !state_.unheard.contains(node.description().id);
    if (heard && number <= node.newest_seen(job))
      violate("attempt " + std::to_string(number) + " of job " + to_string(job) + " is given again");
  }
}

void SimCluster::check_start(const AttemptCreated& created, Time at) {
  const JobId id = created.attempt.job;
  check_size(state_.jobs.at(id), created.allocation.devices());
  for (const Placement& place : created.allocation.ranks) {
    const Node& node = state_.nodes.at(place.node);
    if (!node.usable()) violate("work was given to a node that is not usable");
    if (node.drain && node.drain->forbids(at, at + state_.jobs.at(id).request.walltime))
      violate("work was given to a node that is drained or will be before it ends");
    check_reservation(node, state_.jobs.at(id).request, at);
  }
  check_place(state_.jobs.at(id).request, created.allocation);
  check_limits(state_.jobs.at(id), created.allocation.devices());
  if (state_.jobs.at(id).paused) violate("job " + to_string(id) + " started while it was paused");
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
  for (const auto& [id, node] : state_.nodes)
    for (const DeviceSlot& slot : node.devices) {
      if (!slot.holder || slot.device.kind != kind) continue;
      const Job& job = state_.jobs.at(*slot.holder);
      devices += (job.request.account + "/").starts_with(account + "/") &&
                 (leaving || job.attempt->stop == StopCause::none);
    }
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
  constexpr std::string_view kFor = " for job ";
  const JobId winner{std::stoll(stopping.reason.substr(stopping.reason.find(kFor) + kFor.size()))};
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

// A node that lets its tasks save for as long as their jobs ask for has done nothing wrong.
void SimCluster::check_blame(const NodeDrained& drained) {
  if (!drained.drain.reason.starts_with("could not end")) return;
  const auto node =
      std::ranges::find(nodes_, drained.node, [](const SimNode& n) { return n.description().id; });
  if (node != nodes_.end() && !node->has_stuck_process())
    violate(drained.node.value + " was drained though it ends its tasks: " + drained.drain.reason);
}

void SimCluster::follow_deadlines(const Event& event) {
  if (const auto* created = std::get_if<AttemptCreated>(&event.body))
    starting_[created->attempt.job] = truth_;
  if (const auto* stops = std::get_if<AttemptStopping>(&event.body)) {
    starting_.erase(stops->attempt.job);
    stopping_.insert_or_assign(stops->attempt.job, truth_);
  }
  if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    starting_.erase(ended->attempt.job);
    stopping_.erase(ended->attempt.job);
  }
}

// A node that can be reached starts and ends what it is told to, or others get its part to do.
void SimCluster::check_deadlines() {
  constexpr Duration kLate = std::chrono::seconds(10);
  const auto overdue = [&](const Job& job, std::size_t rank, Time since, Duration within) {
    const auto obeys = obeys_since_.find(job.attempt->allocation.ranks[rank].node);
    const Time obeying = obeys == obeys_since_.end() ? restarted_ : std::max(obeys->second, restarted_);
    return truth_ - std::max(since, obeying) > within + kLate;
  };
  for (const auto& [id, since] : stopping_) {
    const Job& job = state_.jobs.at(id);
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank)
      if (!job.attempt->tasks[rank].over() &&
          overdue(job, rank, since, stop_within(*job.attempt, state_.limits)))
        violate("job " + to_string(id) + " waits for a task that does not end");
  }
  for (auto& [id, since] : starting_) {
    const Job& job = state_.jobs.at(id);
    if (job.attempt->staging > 0) since = truth_;  // a task waits for its inputs
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank)
      if (job.attempt->tasks[rank].phase == TaskPhase::ordered &&
          overdue(job, rank, since, start_within(*job.attempt, state_.limits)))
        violate("job " + to_string(id) + " waits for a task that is not started");
  }
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
                    NodeReserved, NodeUnreserved, NodeLeft, AccountChanged, AccountDeleted>())
    promised_.clear();
  const auto id = job_of(event);
  if (!id) return;
  const Job* job = find_job(state_, *id);
  const auto promise = promised_.find(*id);
  if (const auto* planned = std::get_if<ResizePlanned>(&event.body)) {
    check_resize(*job, planned->resize);
    if (state_.indexes.windows.empty()) promised_[*id] = planned->resize.to;
  } else if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
    if (promise != promised_.end() && created->allocation.devices() != promise->second)
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
  if (resize.from != job.attempt->allocation.devices() || resize.from == resize.to)
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
  if (awaits_reports(state_)) return;  // nothing is decided
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
  // Nor where one that it stops gives back at once what tasks held that had ended already.
  const auto gives_back = [&](const auto& stopped) {
    return std::ranges::any_of(state_.jobs.at(stopped.job).attempt->tasks, &Task::over);
  };
  if (std::ranges::any_of(plan.preempt, gives_back) || std::ranges::any_of(plan.resize, gives_back)) return;
  const Plan next = make_plan(state_, now());
  // A replica of a service is all but endless: where it starts it may move the reservation that kept another
  // job back.
  const auto is_replica = [&](const Start& start) {
    return state_.jobs.at(start.job).request.replica.has_value();
  };
  const bool moves = std::ranges::any_of(plan.start, is_replica);
  for (const Start& start : next.start) {
    const auto why = plan.blocked.find(start.job);
    if (moves && why != plan.blocked.end() && why->second.code == BlockerCode::reserved) continue;
    violate("only a second plan starts job " + to_string(start.job));
  }
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

}  // namespace podium::sim
