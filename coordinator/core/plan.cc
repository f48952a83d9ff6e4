#include "coordinator/core/plan.h"

#include <algorithm>

#include "common/base/check.h"
#include "coordinator/core/draft.h"
#include "coordinator/core/line_order.h"
#include "coordinator/core/policy.h"
#include "coordinator/core/preemption.h"

namespace podium {
namespace {

Blocker back_off(Time until) {
  return {.code = BlockerCode::back_off,
          .sentence = "failed several times soon after its start; starts again at " + format_time(until),
          .until = until};
}

// One pass over one kind's queue, best job first, until nothing more can start.
class Pass {
 public:
  Pass(const ClusterState& state, const std::string& kind, Time now, Plan& plan)
      : state_(state),
        policy_(policy_of(state.scheduling.policy)),
        now_(now),
        kind_(kind),
        plan_(plan),
        ledger_(state, kind),
        reservations_(state, kind, now) {}

  // Jobs that a quota covers go first, those of the deepest accounts before all, so that what is taken back
  // for them becomes theirs.
  void run() {
    std::vector<Line> lines;
    for (const auto& [key, jobs] : state_.queues.at(kind_)) lines.push_back({jobs.begin(), jobs.end(), key});
    for (const int depth : ledger_.quota_depths()) {
      quota_depth_ = depth;
      lines = run(std::move(lines));
    }
    quota_depth_ = 0;
    run(std::move(lines));
    plan_.reservations.insert(plan_.reservations.end(), reservations_.list().begin(),
                              reservations_.list().end());
  }

 private:
  // Returns the lines that were left for later: those that no quota of the wanted depth covers.
  std::vector<Line> run(std::vector<Line> lines) {
    LineOrder order(state_, ledger_, now_);
    for (Line& line : lines) order.add(std::move(line));
    std::vector<Line> later;
    while (!order.empty() && !closed_) {
      Line line = order.take();
      if (quota_depth_ > 0 && depth_of_guarantee(line.key) != quota_depth_) {
        later.push_back(std::move(line));
        continue;
      }
      const Job& job = state_.jobs.at(line.next->job);
      ++line.next;
      const std::size_t started = plan_.start.size();
      const bool goes_on = consider(job, line) && line.next != line.end;
      if (plan_.start.size() > started) order.charge(line, job.request.devices);
      if (goes_on) order.add(std::move(line));
    }
    return later;
  }

  int depth_of_guarantee(const LineKey& key) const {
    const auto account = ledger_.guaranteed_by(key.account, key.shape.devices);
    return account ? depth_of(*account) : 0;
  }

  // False where no other job of the line can start in this pass.
  bool consider(const Job& job, Line& line) {
    if (job.not_before && *job.not_before > now_) {
      plan_.blocked[job.id] = back_off(*job.not_before);
      return true;
    }
    if (auto over = ledger_.over_limit(line.key.account, line.key.shape.devices)) {
      plan_.blocked[job.id] = std::move(*over);
      return false;
    }
    DevicePool others;
    if (!job.avoid.empty()) others = without(pool_for(job.request.nodes), job);
    const DevicePool& around = job.avoid.empty() ? pool_for(job.request.nodes) : others;
    const Time end = now_ + job.request.walltime;
    if (const auto shares = find_place(around.free, line.key.shape, end)) {
      start(job, *shares, end);
      return true;
    }
    if (auto never = never_fits(state_, job.request)) {  // queued before all nodes were known
      plan_.blocked[job.id] = {.code = BlockerCode::too_large, .sentence = std::move(*never)};
      return false;
    }
    const bool for_reservations_alone = fits(around.free, line.key.shape);
    plan_.blocked[job.id] = for_reservations_alone ? would_delay(end) : shortage(around.free, job.request);
    if (!block(job, around)) closed_ = true;
    if (for_reservations_alone) return ++line.tries < state_.scheduling.backfill_depth;
    return wants_reservations() || !job.avoid.empty();
  }

  std::optional<Shares> find_place(const FreeDevices& around, const Shape& shape, Time end) const {
    if (!fits(around, shape) || !reservations_.bind(end)) return choose(around, shape);
    return choose(reservations_.open_to(around, end), shape);
  }

  // For a job that would fit until `end`, were it not for maintenance windows.
  Blocker under_maintenance(Time end) const {
    Blocker blocker{.code = BlockerCode::maintenance};
    for (const NodeId& id : state_.windows)
      if (state_.nodes.at(id).drain->forbids(now_, end)) blocker.nodes.push_back(id);
    PODIUM_CHECK(!blocker.nodes.empty(),
                 "only reservations and maintenance keep free devices from a job they suffice for");
    blocker.sentence =
        "would fit, but with its walltime run into the maintenance of " + blocker.nodes.front().value +
        (blocker.nodes.size() > 1 ? " and " + std::to_string(blocker.nodes.size() - 1) + " other nodes" : "");
    return blocker;
  }

  // For a job that would fit until `end`, were it not for the reservations.
  Blocker would_delay(Time end) const {
    const auto& all = reservations_.list();
    const auto first = std::ranges::find_if(all, [end](const Reservation& r) { return end > r.at; });
    if (first == all.end()) return under_maintenance(end);
    Blocker blocker{.code = BlockerCode::reserved, .job = first->job, .until = first->at};
    blocker.sentence = "would fit, but with its walltime delay job " + to_string(first->job) +
                       ", which has its devices reserved";
    return blocker;
  }

  bool wants_reservations() const {
    return reservations_.size() < static_cast<std::size_t>(policy_.reservations(state_.scheduling));
  }

  void start(const Job& job, const Shares& shares, Time end) {
    for (auto& [nodes, pool] : pools_) give(shares, pool);
    given_.insert(given_.end(), shares.begin(), shares.end());
    reservations_.start(shares, end);
    ledger_.change(job.request.account, job.request.devices);
    const auto nth = state_.attempts_created + std::ssize(plan_.start);
    plan_.start.push_back(
        {job.id, allocate(state_, job.request, shares, taken_, nth), reservations_.size() > 0});
  }

  // Promises the job a start where it is its turn; false where nobody may pass it.
  bool block(const Job& job, const DevicePool& around) {
    if (quota_depth_ > 0 && !taken_back_) take_back_borrowed(job, around);
    if (policy_.reservations(state_.scheduling) == 0) return false;
    if (!wants_reservations()) return true;
    const bool first = reservations_.size() == 0;
    if (first && policy_.preempts(state_.scheduling) && !taken_back_) make_room(job, around);
    reservations_.reserve(around, job);
    return true;
  }

  // Counts what is leaving as free and as no longer held.
  void expect_leaving(DevicePool& pool, AccountLedger& ledger) const {
    for (const JobId leaving : state_.leaving) {
      const Job& other = state_.jobs.at(leaving);
      if (other.request.kind != kind_) continue;
      release(state_, other, pool);
      ledger.change(other.request.account, -other.request.devices);
    }
  }

  void preempt(const std::vector<JobId>& victims, const std::string& reason) {
    for (const JobId victim : victims) {
      plan_.preempt.push_back({victim, reason});
      reservations_.expect_leaving(victim);
    }
  }

  void make_room(const Job& job, DevicePool pool) {
    AccountLedger ledger = ledger_;
    expect_leaving(pool, ledger);
    const auto victims = choose_victims(state_, policy_, std::move(pool), std::move(ledger), job, now_);
    preempt(victims, "makes room for job " + to_string(job.id));
  }

  // For one job at a time: what leaves for it must not be counted on by another.
  void take_back_borrowed(const Job& job, DevicePool pool) {
    const auto account = ledger_.guaranteed_by(job.request.account, job.request.devices);
    AccountLedger ledger = ledger_;
    expect_leaving(pool, ledger);
    taken_back_ = fits(pool.free, shape_of(job.request));
    if (taken_back_) return;
    const auto victims = choose_borrowers(state_, std::move(pool), std::move(ledger), job, *account, now_);
    preempt(victims, "gives back what account " + *account + " is guaranteed, for job " + to_string(job.id));
    taken_back_ = !victims.empty();
  }

  // Leaves out the nodes the job should avoid while there are others that could hold it.
  DevicePool without(const DevicePool& pool, const Job& job) const {
    DevicePool others = pool;
    for (const NodeId& id : job.avoid) {
      const Node* node = find_node(state_, id);
      if (!node) continue;
      others.free.set(node->ordinal, 0);
      others.capacity.set(node->ordinal, 0);
    }
    return fits(others.capacity, shape_of(job.request)) ? others : pool;
  }

  // The devices on nodes with these labels, as the pass leaves them.
  const DevicePool& pool_for(const Labels& nodes) {
    const auto known = pools_.find(nodes);
    if (known != pools_.end()) return known->second;
    const auto pool = state_.pools.find({kind_, nodes});
    DevicePool& copy = pools_[nodes];
    if (pool != state_.pools.end()) copy = pool->second;
    give(given_, copy);
    return copy;
  }

  static void give(const Shares& shares, DevicePool& pool) {
    for (const Share& share : shares)
      if (pool.capacity.free(share.node) > 0) pool.free.add(share.node, -share.devices);
  }

  const ClusterState& state_;
  const Policy& policy_;
  Time now_;
  const std::string& kind_;
  Plan& plan_;
  std::map<Labels, DevicePool> pools_;  // those looked at
  Shares given_;                        // by this pass
  AccountLedger ledger_;                // as the pass leaves it
  Reservations reservations_;
  Taken taken_;
  int quota_depth_ = 0;      // of the quotas whose jobs are being looked at; 0: the other jobs
  bool taken_back_ = false;  // borrowed devices are leaving for one of them
  bool closed_ = false;
};

std::optional<Time> next_wake(const ClusterState& state, const Plan& plan, Time now) {
  std::optional<Time> wake;
  const auto earlier = [&wake](Time time) { wake = wake ? std::min(*wake, time) : time; };
  const auto timer = state.timers.upper_bound({now, JobId{INT64_MAX}});
  if (timer != state.timers.end()) earlier(timer->first);
  for (const auto& [last_seen, id] : state.last_seen) {
    const bool up = state.nodes.at(id).state == NodeState::up;
    earlier(last_seen + (up ? state.limits.unknown_after : state.limits.lost_after));
    if (up) break;  // those seen later are due later
  }
  if (const auto end = next_window_end(state)) earlier(*end);
  const auto interval = policy_of(state.scheduling.policy).interval();
  if (interval && !plan.blocked.empty()) earlier(now + *interval);
  return wake;
}

}  // namespace

Plan make_plan(const ClusterState& state, Time now) {
  Plan plan;
  plan.epoch = state.epoch;
  for (const auto& [kind, queue] : state.queues) Pass(state, kind, now, plan).run();
  plan.wake_at = next_wake(state, plan, now);
  return plan;
}

Events enact(const ClusterState& state, const Plan& plan, Time now) {
  Events events;
  for (const Start& start : plan.start) {
    JobDraft draft(state.jobs.at(start.job), events, now);
    draft.emit(AttemptCreated{{start.job, draft.job().attempts + 1}, start.allocation});
    draft.change_state(JobState::starting, "");
  }
  for (const Preemption& preemption : plan.preempt)
    JobDraft(state.jobs.at(preemption.job), events, now).stop(StopCause::preempted, preemption.reason);
  return events;
}

}  // namespace podium
