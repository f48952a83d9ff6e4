#include "tests/sim/sim_cluster.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/core/plan/why.h"
#include "coordinator/core/policies/policy.h"

namespace podium::sim {
SimCluster::SimCluster(std::vector<NodeDescription> nodes, const SchedulingOptions& scheduling) {
  state_.scheduling = scheduling;
  for (NodeDescription& node : nodes) nodes_.emplace_back(std::move(node), state_.limits.lease);
  turn(CoordinatorUp{});
}

Result<Events> SimCluster::turn(const Command& command) {
  const std::size_t first_event = log_.size();
  auto events = handle(state_, command, now());
  const auto again = handle(state_, command, now());
  if (events.ok() != again.ok() || (events && *events != *again)) violate("handle gave two answers");
  if (events) absorb(*events);
  const bool stale = plan_.stale(state_, now()) || now() < planned_at_;
  const Plan before = std::exchange(plan_, make_plan(state_, now()));
  const Time before_at = std::exchange(planned_at_, now());
  const Plan& plan = plan_;
  // But for those whom a reservation kept back whose time has come: it moves on while others leave, and the
  // plan follows within a minute.
  const auto kept_back = [&](const Start& start) {
    const auto why = before.blocked.find(start.job);
    return why != before.blocked.end() && why->second.code == BlockerCode::reserved &&
           why->second.until <= before_at;
  };
  if (!stale && !std::ranges::all_of(plan.start, kept_back))
    violate("a plan that was not stale would start nothing");
  check_plan(plan);
  for (const auto& [id, job] : state_.jobs) {
    const bool starts = std::ranges::find(plan.start, id, &Start::job) != plan.start.end();
    if (job.state == JobState::queued && !starts &&
        waiting_reason(state_, plan, Foremost(state_, plan, now()), id).empty())
      violate("job " + to_string(id) + " waits without a reason");
  }
  absorb(enact(state_, plan, now()));
  plan_.carried_out(state_);
  tell_waits(first_event);
  check_carried_out(plan);
  check_promises();
  check_orders();
  check_grants();
  check_indexes();
  check_deadlines();
  return events;
}

void SimCluster::absorb(const Events& events) {
  for (const Event& event : events) {
    check_event(event);
    apply(state_, event);
    if (is_durable(event)) log_.push_back(event);
  }
}

void SimCluster::tell_waits(std::size_t first_event) {
  const Events events(log_.begin() + static_cast<std::ptrdiff_t>(first_event), log_.end());
  for (WaitMark& mark : wait_log_.look(state_, plan_, true, events, now()))
    waits_.emplace_back(log_.size(), std::move(mark));
}

// As a store has them.
std::map<JobId, std::string> SimCluster::waits_told() const {
  std::map<JobId, std::string> told;
  for (const auto& [after, mark] : waits_)
    if (const Job* job = find_job(state_, mark.job); job && job->state == JobState::queued)
      told[mark.job] = mark.code;
  return told;
}

RequeueJob SimCluster::requeue(JobId job) const {
  RequeueJob requeue{job};
  const auto end = ended_.find(job);
  if (end == ended_.end()) return requeue;
  const auto last = last_attempt_.find(job);
  const JobQueued& queued = requests_.at(job);
  requeue.ended = {queued.experiment, queued.request, end->second,
                   last == last_attempt_.end() ? 0 : last->second};
  requeue.ends = ended_;
  return requeue;
}

void SimCluster::pass(Duration duration, Random& random) {
  const Duration step = std::chrono::seconds(2);
  for (Duration done{0}; done < duration; done += step) {
    truth_ += step;
    for (SimNode& node : nodes_) {
      node.pass(truth_, random);
      if (!node.reachable()) {
        obeys_since_[node.description().id] = truth_;
        continue;
      }
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
  wait_log_ = WaitLog(waits_told());
  if (random.chance(50)) {
    state_ = cluster_state_from_json(to_json(state_), empty);
  } else {
    state_ = empty;
    apply_all(state_, log_);
  }
  truth_ += down;
  obeys_since_.clear();
  restarted_ = truth_;
  if (restored_) orders_.clear();  // what is parked is told again
  for (SimNode& node : nodes_) node.pass(truth_, random);
  turn(CoordinatorUp{recorded_});
}

void SimCluster::restore(const SimCluster& copy, Random& random) {
  std::vector<SimNode> nodes = std::move(nodes_);
  const std::map<JobId, JobState> ended = std::move(ended_);
  const std::pair<Time, Duration> clocks{truth_, skew_};
  const JobId recorded = recorded_;
  *this = copy;
  if (random.chance(50)) recorded_ = lost_ = recorded;  // else the record was restored with the database
  nodes_ = std::move(nodes);
  std::tie(truth_, skew_) = clocks;
  restored_ = true;
  for (SimNode& node : nodes_) node.list_all_tasks();
  for (const auto& [id, job] : state_.jobs)
    if (ended.contains(id)) hold_back(job);
  jobs_held_back_ = static_cast<int>(held_back_.size());
  restart_coordinator({}, random);
}

// Nodes get a fresh start; after a step back the coordinator's clock has to live through that time again.
void SimCluster::jump_clock(Duration by) {
  skew_ += by;
  obeys_since_.clear();
  restarted_ = truth_ + std::max(-by, Duration{});
}

void SimCluster::check_replay() {
  if (restored_) return;  // what is parked is of the newest reports alone, and so are the orders of that
  ClusterState replayed = empty_state();
  apply_all(replayed, log_);
  if (to_json(replayed) != to_json(state_)) violate("replaying the log gives another state");
  if (replayed.indexes.queues != state_.indexes.queues || replayed.indexes.timers != state_.indexes.timers ||
      replayed.indexes.deadlines != state_.indexes.deadlines ||
      replayed.indexes.leaving != state_.indexes.leaving ||
      replayed.indexes.dependents != state_.indexes.dependents ||
      replayed.indexes.windows != state_.indexes.windows ||
      replayed.indexes.suspects != state_.indexes.suspects ||
      replayed.indexes.resizing != state_.indexes.resizing ||
      replayed.indexes.elastic != state_.indexes.elastic ||
      replayed.indexes.services != state_.indexes.services ||
      replayed.indexes.pools != state_.indexes.pools || replayed.indexes.running != state_.indexes.running ||
      replayed.indexes.impaired != state_.indexes.impaired ||
      replayed.indexes.node_ids != state_.indexes.node_ids)
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

std::string SimCluster::describe_jobs() const {
  const Plan plan = make_plan(state_, now());
  std::string text;
  for (const auto& [id, job] : state_.jobs)
    text += "\njob " + to_string(id) + " is " + std::string(to_string(job.state)) + " " +
            waiting_reason(state_, plan, Foremost(state_, plan, now()), id);
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
