#include "coordinator/core/plan/plan.h"

#include <algorithm>

#include "common/base/check.h"
#include "coordinator/core/jobs/draft.h"
#include "coordinator/core/plan/elastic.h"
#include "coordinator/core/plan/line_order.h"
#include "coordinator/core/plan/preemption.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/core/state/time_text.h"

namespace podium {
namespace {

constexpr Duration kLeavingTakes = std::chrono::minutes(1);

Blocker back_off(Time until) {
  return {.code = BlockerCode::back_off,
          .sentence = "failed several times soon after its start; starts again at " + time_text(until),
          .until = until};
}

// One pass over one kind's queue, best job first, until nothing more can start.
class Pass {
 public:
  Pass(const ClusterState& state, const std::string& kind, Time now, Plan& plan, Given& handed_out)
      : state_(state),
        policy_(policy_of(state.scheduling.policy)),
        now_(now),
        kind_(kind),
        plan_(plan),
        ledger_(state, kind),
        reservations_(state, kind, now),
        handed_out_(handed_out),
        nodes_reserved_(std::ranges::any_of(state.indexes.windows, [&](const NodeId& id) {
          return state.nodes.at(id).reservation.has_value();
        })) {}

  // Jobs that a quota covers go first, those of the deepest accounts before all, so that what is taken back
  // for them becomes theirs.
  void run() {
    resume_resized();
    std::vector<Line> lines;
    if (const auto queue = state_.indexes.queues.find(kind_); queue != state_.indexes.queues.end())
      for (const auto& [key, jobs] : queue->second) lines.push_back({jobs.begin(), jobs.end(), &key});
    if (policy_.by_account()) plan_.conclusive = false;
    for (const int depth : ledger_.quota_depths()) {
      plan_.conclusive = false;
      quota_depth_ = depth;
      lines = run(std::move(lines));
    }
    quota_depth_ = 0;
    run(std::move(lines));
    if (!starved_) grow();
    plan_.reservations.insert(plan_.reservations.end(), reservations_.list().begin(),
                              reservations_.list().end());
  }

 private:
  // Returns the lines that were left for later: those that no quota of the wanted depth covers.
  std::vector<Line> run(std::vector<Line> lines) {
    LineOrder order(state_, ledger_, now_);
    for (const Line& line : lines) order.add(line);
    std::vector<Line> later;
    while (!order.empty() && !closed_) {
      Line line = order.take();
      if (quota_depth_ > 0 &&
          depth_of_guarantee(line.key->account, line.key->shape.devices) != quota_depth_) {
        later.push_back(line);
        continue;
      }
      if (const Blocker* why = hopeless(line); why && !resumed_.contains(line.next->job)) {
        auto over = ledger_.over_limit(line.key->account, line.key->shape.devices);
        plan_.blocked[line.next->job] = over ? std::move(*over) : *why;
        continue;
      }
      const Job& job = state_.jobs.at(line.next->job);
      ++line.next;
      const std::size_t started = plan_.start.size();
      const bool goes_on = (resumed_.contains(job.id) || consider(job, line)) && line.next != line.end;
      if (plan_.start.size() > started) order.charge(line, plan_.start.back().allocation.devices());
      if (goes_on) order.add(line);
    }
    return later;
  }

  int depth_of_guarantee(const std::string& account, int devices) const {
    const auto guarantee = ledger_.guaranteed_by(account, devices);
    return guarantee ? depth_of(*guarantee) : 0;
  }

  // What one line tells of others: all of its shape, of its account alone while nodes are reserved.
  JobClass alike(const Line& line) const {
    return nodes_reserved_ ? *line.key : JobClass{"", line.key->shape};
  }

  // Why no job of the line can start, where one alike showed that none does and nobody is to be promised a
  // start or to make room any more. What is free only becomes less in a pass.
  const Blocker* hopeless(const Line& line) const {
    if (hopeless_.empty() || wants_reservations() || (quota_depth_ > 0 && !taken_back_)) return nullptr;
    const auto known = hopeless_.find(alike(line));
    return known == hopeless_.end() ? nullptr : &known->second;
  }

  // False where no other job of the line can start in this pass.
  bool consider(const Job& job, Line& line) {
    if (job.not_before && *job.not_before > now_) {
      plan_.blocked[job.id] = back_off(*job.not_before);
      plan_.stale_by(*job.not_before);
      return true;
    }
    if (auto over = ledger_.over_limit(line.key->account, line.key->shape.devices)) {
      plan_.blocked[job.id] = std::move(*over);
      return false;
    }
    DevicePool others;
    const bool avoids = job.avoids(now_);
    if (avoids) {
      others = without_avoided(state_, pool_for(job.request.nodes), job);
      plan_.stale_by(*job.avoid_until);
    }
    const DevicePool& around = avoids ? others : pool_for(job.request.nodes);
    const Time end = now_ + job.request.walltime;
    const auto slices = find_start(around, *line.key, job, end);
    if (slices) {
      start(job, *slices, end);
      return true;
    }
    if (auto never = never_fits(state_, job.request)) {  // queued before all nodes were known
      plan_.blocked[job.id] = {.code = BlockerCode::too_large, .sentence = std::move(*never)};
      return false;
    }
    starved_ = true;
    const bool for_reservations_alone = fits(around.free, line.key->shape);
    plan_.blocked[job.id] =
        for_reservations_alone ? would_delay(job, end) : shortage(around.free, job.request);
    if (!block(job, around)) closed_ = true;
    if (for_reservations_alone && ++tries_[alike(line)] < state_.scheduling.backfill_depth) return true;
    if (for_reservations_alone || !avoids) hopeless_.try_emplace(alike(line), plan_.blocked.at(job.id));
    return !for_reservations_alone && (wants_reservations() || avoids);
  }

  // A job that failed soon after its start goes elsewhere if it can at once: that shows whose fault it was.
  std::optional<NodeSlices> find_start(const DevicePool& around, const JobClass& line, const Job& job,
                                       Time end) const {
    const auto find = [&](const FreeDevices& free) {
      return job.request.elastic() ? find_largest(free, job, end) : find_place(free, line.shape, job, end);
    };
    std::optional<NodeSlices> elsewhere;
    if (job.retries.quick > 0 && !state_.indexes.suspects.empty())
      elsewhere = find(without_suspects(state_, around, job).free);
    return elsewhere ? elsewhere : find(around.free);
  }

  std::optional<NodeSlices> find_place(const FreeDevices& around, const Shape& shape, const Job& job,
                                       Time end) const {
    if (!fits(around, shape) || !reservations_.bind(end)) return choose(around, shape);
    return choose(reservations_.open_to(around, job.request.account, end), shape);
  }

  // On as many devices as the job may have, and more than it holds; within its quota, while those within
  // theirs are looked at.
  std::optional<NodeSlices> find_largest(const FreeDevices& around, const Job& job, Time end) const {
    const int held = job.attempt ? job.devices() : 0;
    const std::string& account = job.request.account;
    for (auto size = job.request.sizes.rbegin(); size != job.request.sizes.rend() && *size > held; ++size) {
      if (ledger_.over_limit(account, *size - held)) continue;
      if (quota_depth_ > 0 && depth_of_guarantee(account, *size) != quota_depth_) continue;
      if (auto slices = find_place(around, shape_at(job.request, *size), job, end)) return slices;
    }
    return std::nullopt;
  }

  // For a job that would fit until `end`, were it not for the windows of nodes.
  Blocker closed_nodes(const Job& job, Time end) const {
    Blocker blocker{.code = BlockerCode::maintenance};
    Blocker reserved{.code = BlockerCode::reserved_nodes};
    for (const NodeId& id : state_.indexes.windows) {
      const Node& node = state_.nodes.at(id);
      if (node.drain && node.drain->forbids(now_, end))
        blocker.nodes.push_back(id);
      else if (node.forbids(job.request.account, now_, end))
        reserved.nodes.push_back(id);
    }
    const auto of = [](const std::vector<NodeId>& nodes) {
      return nodes.front().value +
             (nodes.size() > 1 ? " and " + std::to_string(nodes.size() - 1) + " other node" : "") +
             (nodes.size() > 2 ? "s" : "");
    };
    if (!blocker.nodes.empty()) {
      blocker.sentence = "fits now, but its walltime reaches into the maintenance of " + of(blocker.nodes);
      return blocker;
    }
    PODIUM_CHECK(!reserved.nodes.empty(),
                 "only reservations and maintenance keep free devices from a job they suffice for");
    reserved.sentence = "fits now, but its walltime reaches into the reservation of " + of(reserved.nodes) +
                        " for account " + state_.nodes.at(reserved.nodes.front()).reservation->account;
    return reserved;
  }

  // For a job that would fit until `end`, were it not for the reservations.
  Blocker would_delay(const Job& job, Time end) const {
    const auto& all = reservations_.list();
    const auto first = std::ranges::find_if(all, [end](const Reservation& r) { return end > r.at; });
    if (first == all.end()) return closed_nodes(job, end);
    Blocker blocker{.code = BlockerCode::reserved, .job = first->job, .until = first->at};
    blocker.sentence = "fits now, but its walltime would delay job " + to_string(first->job) +
                       ", for which devices are reserved";
    return blocker;
  }

  bool wants_reservations() const {
    return reservations_.size() < static_cast<std::size_t>(policy_.reservations(state_.scheduling));
  }

  void start(const Job& job, const NodeSlices& slices, Time end) {
    for (auto& [nodes, pool] : pools_) give(slices, pool);
    given_.insert(given_.end(), slices.begin(), slices.end());
    reservations_.start(slices, end);
    for (const NodeSlice& slice : slices) ledger_.change(job.request.account, slice.devices);
    const auto nth = state_.attempts_created + std::ssize(plan_.start);
    plan_.start.push_back(
        {job.id, allocate(state_, job.request, slices, handed_out_, nth), reservations_.size() > 0});
  }

  // Promises the job a start where it is its turn; false where nobody may pass it.
  bool block(const Job& job, const DevicePool& around) {
    if (quota_depth_ > 0 && !taken_back_) take_back_borrowed(job, around);
    const bool first = reservations_.size() == 0;
    if (first && !taken_back_ && others_may_yield()) make_room(job, around);
    if (policy_.reservations(state_.scheduling) == 0) return false;
    if (wants_reservations()) reservations_.reserve(around, job);
    return true;
  }

  bool others_may_yield() const {
    return policy_.preempts(state_.scheduling) || state_.indexes.elastic.contains(kind_);
  }

  // Counts what is leaving as free and as no longer held.
  void expect_leaving(DevicePool& pool, AccountLedger& ledger) const {
    for (const JobId leaving : state_.indexes.leaving) {
      const Job& other = state_.jobs.at(leaving);
      if (other.request.kind != kind_) continue;
      add_leaving_devices(state_, other, pool);
      ledger.change(other.request.account, -surplus_devices(other));
    }
  }

  void preempt(const std::vector<JobId>& victims, PreemptionCause cause, const std::string& reason) {
    for (const JobId victim : victims) {
      plan_.preempt.push_back({victim, cause, reason});
      reservations_.expect_leaving(victim);
    }
  }

  // Elastic jobs shrink before any job is stopped whole.
  bool shrink_others(const Job& job, const DevicePool& pool, const AccountLedger& ledger,
                     const MayShrink& may_shrink) {
    const auto shrinks = choose_shrinks(state_, pool, ledger, job, may_shrink, now_, plan_.stale_at);
    for (const Resizing& shrink : shrinks)
      reservations_.expect_shrinking(shrink.job,
                                     surplus_of(state_, state_.jobs.at(shrink.job), shrink.resize));
    plan_.resize.insert(plan_.resize.end(), shrinks.begin(), shrinks.end());
    return !shrinks.empty();
  }

  void make_room(const Job& job, DevicePool pool) {
    AccountLedger ledger = ledger_;
    expect_leaving(pool, ledger);
    const auto may_shrink = [&](const Job& running) {
      return running.request.priority <= job.request.priority ||
             policy_.may_preempt(state_.scheduling, standing_of(job), standing_of(running), now_);
    };
    taken_back_ = shrink_others(job, pool, ledger, may_shrink);
    if (taken_back_ || !policy_.preempts(state_.scheduling)) return;
    const auto victims = choose_victims(state_, policy_, std::move(pool), std::move(ledger), job, now_);
    preempt(victims, PreemptionCause::priority, "makes room for job " + to_string(job.id));
  }

  // For one job at a time: what leaves for it must not be counted on by another.
  void take_back_borrowed(const Job& job, DevicePool pool) {
    const auto account = ledger_.guaranteed_by(job.request.account, job.request.devices);
    AccountLedger ledger = ledger_;
    expect_leaving(pool, ledger);
    taken_back_ = fits(pool.free, shape_of(job.request));
    const auto borrows = [&](const Job& running) {
      return !is_at_or_below(running.request.account, *account);
    };
    if (!taken_back_) taken_back_ = shrink_others(job, pool, ledger, borrows);
    if (taken_back_) return;
    const auto victims = choose_borrowers(state_, std::move(pool), std::move(ledger), job, *account, now_);
    preempt(victims, PreemptionCause::reclaim,
            "gives back what account " + *account + " is guaranteed, for job " + to_string(job.id));
    taken_back_ = !victims.empty();
  }

  // Jobs on their way to another size go before all others: they start on what was kept for them, and what is
  // kept for those that still leave is nobody else's.
  void resume_resized() {
    for (const JobId id : state_.indexes.resizing) {
      const Job& job = state_.jobs.at(id);
      if (job.request.kind != kind_) continue;
      if (job.attempt)
        keep(job, still_to_get(state_, job), job.held ? 0 : job.resize->to - job.allocated_devices());
      else if (job.in_line() && (!job.not_before || *job.not_before <= now_))
        resume(job);
    }
  }

  void resume(const Job& job) {
    const Time end = now_ + job.request.walltime;
    FreeDevices open = pool_for(job.request.nodes).free;
    close_windows(state_, job.request.account, now_, end, open);
    const auto slices = restart_place(state_, job, open);
    if (!slices || ledger_.over_limit(job.request.account, job.resize->to)) return;
    start(job, *slices, end);
    resumed_.insert(job.id);
  }

  // Counts free devices as given to a job that is leaving to come back with so many more.
  void keep(const Job& job, NodeSlices free, int more) {
    for (NodeSlice& slice : free) slice.devices = std::min(slice.devices, pool_for({}).free.free(slice.node));
    for (auto& [nodes, pool] : pools_) give(free, pool);
    given_.insert(given_.end(), free.begin(), free.end());
    ledger_.change(job.request.account, std::max(more, 0));
  }

  // Into devices that nobody in line can use.
  void grow() {
    if (pool_for({}).free.total() == 0) return;
    int tries = 0;
    for (const Job* job : jobs_to_grow(state_, kind_, now_, plan_.stale_at)) {
      if (++tries > state_.scheduling.backfill_depth) return;
      DevicePool around = pool_for(job->request.nodes);
      if (job->avoids(now_)) {
        around = without_avoided(state_, around, *job);
        plan_.stale_by(*job->avoid_until);
      }
      add_devices(state_, *job, around);
      const auto place = find_largest(around.free, *job, now_ + job->request.walltime);
      if (!place) continue;
      const Resize resize = resize_to(state_, *job, *place);
      keep(*job, beyond_allocated(state_, *job, *place), resize.to - resize.from);
      plan_.resize.push_back({job->id, resize});
    }
  }

  // The devices on nodes with these labels, as the pass leaves them.
  const DevicePool& pool_for(const Labels& nodes) {
    const auto known = pools_.find(nodes);
    if (known != pools_.end()) return known->second;
    const auto pool = state_.indexes.pools.find({kind_, nodes});
    DevicePool& copy = pools_[nodes];
    if (pool != state_.indexes.pools.end()) copy = pool->second;
    give(given_, copy);
    return copy;
  }

  static void give(const NodeSlices& slices, DevicePool& pool) {
    for (const NodeSlice& slice : slices)
      if (pool.capacity.free(slice.node) > 0) pool.free.add(slice.node, -slice.devices);
  }

  const ClusterState& state_;
  const Policy& policy_;
  Time now_;
  const std::string& kind_;
  Plan& plan_;
  std::map<Labels, DevicePool> pools_;  // those looked at
  NodeSlices given_;                    // by this pass
  AccountLedger ledger_;                // as the pass leaves it
  Reservations reservations_;
  Given& handed_out_;
  int quota_depth_ = 0;      // of the quotas whose jobs are being looked at; 0: the other jobs
  bool taken_back_ = false;  // devices are leaving for one job, so that no others are asked to for another
  bool starved_ = false;     // a job waits for devices
  std::set<JobId> resumed_;  // started with their new size
  bool nodes_reserved_;      // some, for accounts
  std::map<JobClass, int> tries_;         // that failed for the reservations alone, of lines alike
  std::map<JobClass, Blocker> hopeless_;  // lines alike of which nothing more can start
  bool closed_ = false;
};

}  // namespace

Plan make_plan(const ClusterState& state, Time now) {
  Plan plan;
  plan.epoch = state.epoch;
  if (awaits_reports(state)) return plan;
  Given handed_out;
  for (const auto& [kind, queue] : state.indexes.queues) Pass(state, kind, now, plan, handed_out).run();
  for (const auto& [kind, jobs] : state.indexes.elastic)
    if (!state.indexes.queues.contains(kind)) Pass(state, kind, now, plan, handed_out).run();
  if (plan.blocked.empty()) return plan;
  // A reservation whose time has come moves on while others still leave, and may run into the next.
  for (const Reservation& reserved : plan.reservations)
    plan.stale_by(reserved.at > now ? reserved.at : now + kLeavingTakes);
  if (const auto end = next_window_end(state)) plan.stale_by(*end);
  if (const auto interval = policy_of(state.scheduling.policy).interval()) plan.stale_by(now + *interval);
  return plan;
}

Events enact(const ClusterState& state, const Plan& plan, Time now) {
  Events events;
  for (const Start& start : plan.start) {
    JobDraft draft(state.jobs.at(start.job), events, now);
    draft.emit(AttemptCreated{{start.job, draft.job().newest_attempt() + 1}, start.allocation});
    draft.change_state(JobState::starting, "");
  }
  for (const Preemption& preemption : plan.preempt)
    JobDraft(state.jobs.at(preemption.job), events, now).stop(StopCause::preempted, preemption.reason);
  for (const Resizing& resizing : plan.resize) {
    JobDraft draft(state.jobs.at(resizing.job), events, now);
    draft.emit(ResizePlanned{draft.job().attempt_id(), resizing.resize});
    draft.stop(StopCause::resized,
               (resizing.resize.grows() ? "grows " : "shrinks ") + describe(resizing.resize));
  }
  return events;
}

}  // namespace podium
