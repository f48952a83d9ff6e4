#include "coordinator/core/plan/why.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/check.h"
#include "common/base/units.h"
#include "coordinator/core/accounts/fair_share_tree.h"
#include "coordinator/core/jobs/replicas.h"
#include "coordinator/core/jobs/trials.h"
#include "coordinator/core/nodes/deadlines.h"
#include "coordinator/core/nodes/restored.h"
#include "coordinator/core/plan/start_order.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/core/state/pools.h"
#include "coordinator/core/state/time_text.h"
#include "coordinator/core/state/words.h"

namespace podium {
namespace {

constexpr std::size_t kMostHolders = 5;  // running jobs that are named

using std::chrono::minutes;
using std::chrono::seconds;

std::string missing_reports(const ClusterState& state) {
  std::string text = "waits until the coordinator, which was away, has ";
  if (!state.unheard.empty())
    text += "heard from " + listed(std::vector<NodeId>(state.unheard.begin(), state.unheard.end())) +
            ", for " + about(state.limits.unknown_after) + " at most" +
            (state.listens_until ? ", and has " : "");
  if (state.listens_until)
    text += "listened for " + about(lease::kReportWithin) +
            " to nodes that its database may not list: without a shared folder only they know what they ran";
  return text;
}

Blocker behind(const ClusterState& state, const Plan& plan, const Foremost& foremost, const Job& job) {
  Blocker blocker;
  const Job* ahead = foremost.ahead_of(state, job);
  if (!ahead) {
    blocker.sentence = awaits_reports(state) ? missing_reports(state) : "waits for the scheduler's next look";
    return blocker;
  }
  blocker.code = BlockerCode::queue;
  blocker.job = ahead->id;
  blocker.sentence =
      "waits behind job " + to_string(ahead->id) + ", which " + plan.blocked.at(ahead->id).sentence;
  return blocker;
}

std::string why_held(const ClusterState& state, const Job& job) {
  const std::string id = to_string(job.id);
  if (const auto unknown = find_unknown(state, job.id)) {
    const std::string adopt = "podium nodes adopt " + unknown->node.value;
    return "is held: " + job.held_because + ". It runs there still: " + adopt + " lets it run to its end, " +
           adopt + " --stop stops it; then podium release " + id + " runs it again";
  }
  if (job.held_because.empty()) return "is held; podium release " + id + " lets it start";
  return "is held: " + job.held_because + "; podium release " + id + " runs it again, podium cancel " + id +
         " ends it";
}

std::string why_follows(const std::vector<Dependency>& after) {
  std::string text;
  for (const When when : {When::ok, When::any}) {
    std::set<JobId> jobs;
    for (const Dependency& on : after)
      if (on.when == when) jobs.insert(on.job);
    if (jobs.empty()) continue;
    text += (text.empty() ? "waits for " : ", and for ") + listed(jobs);
    text += when == When::ok ? " to succeed" : " to end";
  }
  return text;
}

std::optional<Blocker> not_in_line(const ClusterState& state, const Job& job) {
  if (job.held) return Blocker{.code = BlockerCode::held, .sentence = why_held(state, job)};
  if (job.paused)
    return Blocker{.code = BlockerCode::paused,
                   .sentence = job.request.replica ? why_replica_paused(state, job) : why_paused(state, job)};
  if (job.request.after.empty()) return std::nullopt;
  return Blocker{.code = BlockerCode::follows,
                 .sentence = why_follows(job.request.after),
                 .job = job.request.after.front().job};
}

// The plan's reason, or the job that it waits behind where the plan did not try it.
Blocker first_blocker(const ClusterState& state, const Plan& plan, const Foremost& foremost, const Job& job) {
  if (auto blocker = not_in_line(state, job)) return std::move(*blocker);
  const auto own = plan.blocked.find(job.id);
  return own != plan.blocked.end() ? own->second : behind(state, plan, foremost, job);
}

std::vector<NodeId> nodes_of(const Job& job) {
  std::vector<NodeId> nodes;
  for (const Placement& place : job.attempt->allocation.ranks)
    if (nodes.empty() || nodes.back() != place.node) nodes.push_back(place.node);
  return nodes;
}

Blocker holder(const Job& running, Time now) {
  Blocker blocker;
  blocker.code = BlockerCode::running;
  blocker.job = running.id;
  blocker.nodes = nodes_of(running);
  blocker.has = running.attempt->allocation.devices();
  blocker.until = running.attempt->created + running.request.walltime;
  const bool leaves = running.attempt->stop != StopCause::none;
  blocker.sentence = "job " + to_string(running.id) + " on " + listed(blocker.nodes) + " holds " +
                     count(blocker.has, running.request.kind + " device") + " and " +
                     (leaves ? "is stopping" : "ends within " + about(*blocker.until - now));
  return blocker;
}

// The running jobs whose ends make room for the job, by their ends.
std::vector<const Job*> holders_of_room(const ClusterState& state, const Job& job, Time now) {
  const auto found = state.indexes.pools.find({job.request.kind, job.request.nodes});
  const Shape shape = shape_of(job.request);
  if (found == state.indexes.pools.end()) return {};
  DevicePool pool = job.avoids(now) ? without_avoided(state, found->second, job) : found->second;
  if (fits(pool.free, shape)) return {};
  std::vector<const Job*> ended;
  for (const auto& [time, id] : state.indexes.timers) {
    const Job& running = state.jobs.at(id);
    if (!running.attempt || running.request.kind != job.request.kind) continue;
    add_devices(state, running, pool);
    ended.push_back(&running);
    if (fits(pool.free, shape)) break;
  }
  if (!fits(pool.free, shape)) return {};  // nodes are missing as well
  std::vector<const Job*> needed;
  for (auto last = ended.rbegin(); last != ended.rend(); ++last) {
    remove_devices(state, **last, pool);
    if (fits(pool.free, shape)) continue;
    add_devices(state, **last, pool);
    needed.insert(needed.begin(), *last);
  }
  return needed;
}

void add_unavailable(const ClusterState& state, const Job& job, std::vector<Blocker>& blockers) {
  Blocker away;
  away.code = BlockerCode::unavailable;
  bool drained = true, busy = true;  // all of them
  for (const auto& [id, node] : state.nodes) {
    if (node.usable() || !matches(node, job.request.nodes)) continue;
    const auto devices = std::ranges::count(node.devices, job.request.kind,
                                            [](const DeviceSlot& slot) { return slot.device.kind; });
    if (devices == 0) continue;
    away.nodes.push_back(id);
    away.has += devices;
    drained &= node.drain.has_value();
    busy &= node.state == NodeState::up && node.strays > 0;
  }
  if (away.nodes.empty()) return;
  const bool one = away.nodes.size() == 1;
  const std::string why = busy ? (one ? " still runs" : " still run") + std::string(" tasks of no job here")
                               : (one ? " is " : " are ") + std::string(drained ? "drained" : "not up");
  away.sentence =
      count(away.has, job.request.kind + " device") + " cannot be used: " + listed(away.nodes) + why;
  blockers.push_back(std::move(away));
}

std::int64_t unhealthy_devices(const Node& node, const std::string& kind, std::string& why) {
  std::int64_t unhealthy = 0;
  for (const DeviceSlot& slot : node.devices) {
    if (slot.device.kind != kind || slot.device.health.empty()) continue;
    if (unhealthy++ == 0) why = slot.device.health;
  }
  return unhealthy;
}

// Adds the unhealthy devices of nodes that get work. The first device's reason stands for all.
void add_unhealthy(const ClusterState& state, const Job& job, std::vector<Blocker>& blockers) {
  const std::string& kind = job.request.kind;
  Blocker unhealthy{.code = BlockerCode::unavailable};
  std::int64_t of_first = 0;
  std::string why;
  for (const auto& [id, node] : state.nodes) {
    if (!node.usable() || !matches(node, job.request.nodes)) continue;
    std::string its_why;
    const std::int64_t here = unhealthy_devices(node, kind, its_why);
    if (here == 0) continue;
    if (unhealthy.nodes.empty()) {
      of_first = here;
      why = std::move(its_why);
    }
    unhealthy.nodes.push_back(id);
    unhealthy.has += here;
  }
  if (unhealthy.nodes.empty()) return;
  unhealthy.sentence = count(unhealthy.has, kind + " device") + " on " + listed(unhealthy.nodes) +
                       (unhealthy.has == 1 ? " is" : " are") + " unhealthy";
  if (unhealthy.nodes.size() > 1)
    unhealthy.sentence += ", " + std::to_string(of_first) + " of them on " + unhealthy.nodes.front().value;
  unhealthy.sentence += ": " + why;
  blockers.push_back(std::move(unhealthy));
}

void add_avoided(const Job& job, Time now, std::vector<Blocker>& blockers) {
  if (!job.avoids(now)) return;
  Blocker avoided;
  avoided.code = BlockerCode::avoided;
  avoided.nodes = job.avoid;
  avoided.until = job.avoid_until;
  avoided.sentence = "avoids " + listed(job.avoid) + " where it can until " + time_text(*job.avoid_until) +
                     ", for it failed there";
  blockers.push_back(std::move(avoided));
}

std::set<std::string> accounts_in_line(const ClusterState& state, const std::string& kind) {
  std::set<std::string> accounts;
  if (const auto queue = state.indexes.queues.find(kind); queue != state.indexes.queues.end())
    for (const auto& [line, jobs] : queue->second) accounts.insert(line.account);
  return accounts;
}

// An account's usage by share, in device hours.
std::string stands_at(double factor) {
  const long long tenths = std::llround(factor / 360);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

void add_account(const ClusterState& state, const Job& job, Time now, std::vector<Blocker>& blockers) {
  const AccountLedger ledger(state, job.request.kind);
  const std::string& account = job.request.account;
  if (const auto quota = ledger.nearest_quota(account);
      quota && !ledger.guaranteed_by(account, job.request.devices)) {
    Blocker beyond{.code = BlockerCode::quota,
                   .needs = ledger.allocated(quota->account) + job.request.devices,
                   .has = quota->devices};
    beyond.sentence = "account " + quota->account + " would hold " + std::to_string(beyond.needs) + " " +
                      job.request.kind + " devices and is guaranteed " + std::to_string(beyond.has) +
                      ", so that the job can only borrow what others leave";
    blockers.push_back(std::move(beyond));
  }
  if (!policy_of(state.scheduling.policy).by_account()) return;
  const auto standing = behind_whom(state, ledger, account, accounts_in_line(state, job.request.kind), now);
  if (!standing) return;
  const auto named = [](const std::string& name) {
    return name.ends_with('/') ? "account " + name.substr(0, name.size() - 1) + " itself" : "account " + name;
  };
  Blocker share{.code = BlockerCode::share};
  share.sentence = named(standing->ahead) + " goes before " + named(standing->account) +
                   ": by their shares they have used " + stands_at(standing->factor_ahead) + " and " +
                   stands_at(standing->factor) + " device hours";
  blockers.push_back(std::move(share));
}

// ": 2 of account nlp and 1 of cv", the most first.
std::string by_account(const std::map<std::string, std::int64_t>& accounts) {
  constexpr std::size_t kMostAccounts = 3;
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [account, jobs] : accounts) most.emplace_back(-jobs, account);
  std::ranges::sort(most);
  std::int64_t others = 0;
  while (most.size() > kMostAccounts) {
    others -= most.back().first;
    most.pop_back();
  }
  std::string text = ": ";
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (i > 0) text += i + 1 == most.size() && others == 0 ? " and " : ", ";
    text += std::to_string(-most[i].first) + " of " + (i == 0 ? "account " : "") + most[i].second;
  }
  return others == 0 ? text : text + " and " + std::to_string(others) + " of other accounts";
}

void add_queue(const ClusterState& state, const Job& job, Time now, std::vector<Blocker>& blockers) {
  Blocker queue;
  queue.code = BlockerCode::queue;
  StartOrder order(state, job.request.kind, now);
  for (auto place = order.next(); place && place->job != job.id; place = order.next()) {
    if (queue.has++ == 0) queue.job = place->job;
    ++queue.accounts[state.jobs.at(place->job).request.account];
  }
  if (queue.has == 0) return;
  const bool own_alone = queue.accounts.size() == 1 && queue.accounts.contains(job.request.account);
  if (queue.has == 1)
    queue.sentence = "1 job goes before it: job " + to_string(*queue.job) +
                     (own_alone ? "" : " of account " + queue.accounts.begin()->first);
  else
    queue.sentence = std::to_string(queue.has) + " jobs go before it" +
                     (own_alone ? "" : by_account(queue.accounts)) + ", job " + to_string(*queue.job) +
                     " first";
  blockers.push_back(std::move(queue));
}

}  // namespace

std::string_view to_string(BlockerCode code) {
  switch (code) {
    case BlockerCode::held:
      return "held";
    case BlockerCode::paused:
      return "paused";
    case BlockerCode::follows:
      return "follows";
    case BlockerCode::limit:
      return "limit";
    case BlockerCode::quota:
      return "quota";
    case BlockerCode::share:
      return "share";
    case BlockerCode::back_off:
      return "back_off";
    case BlockerCode::too_large:
      return "too_large";
    case BlockerCode::devices:
      return "devices";
    case BlockerCode::reserved:
      return "reserved";
    case BlockerCode::maintenance:
      return "maintenance";
    case BlockerCode::reserved_nodes:
      return "reserved_nodes";
    case BlockerCode::allocation:
      return "allocation";
    case BlockerCode::fence:
      return "fence";
    case BlockerCode::running:
      return "running";
    case BlockerCode::unavailable:
      return "unavailable";
    case BlockerCode::avoided:
      return "avoided";
    case BlockerCode::queue:
      return "queue";
    case BlockerCode::planning:
      return "planning";
  }
  PODIUM_CHECK(false, "a blocker without a name");
}

BlockerCode blocker_apart(const Job& job) {
  return job.held ? BlockerCode::held : job.paused ? BlockerCode::paused : BlockerCode::follows;
}

std::string about(Duration duration) {
  if (duration <= minutes(2)) return format_duration(std::chrono::ceil<seconds>(duration));
  return format_duration(std::chrono::ceil<minutes>(duration));
}

std::vector<Blocker> blockers_of(const ClusterState& state, const Plan& plan, JobId id, Time now) {
  const Job* job = find_job(state, id);
  if (!job || job->state != JobState::queued) return {};
  std::vector<Blocker> blockers{first_blocker(state, plan, Foremost(state, plan, now), *job)};
  const BlockerCode first = blockers.front().code;
  if (!job->in_line() || first == BlockerCode::back_off) return blockers;
  const std::vector<const Job*> holders = holders_of_room(state, *job, now);
  for (std::size_t i = 0; i < std::min(holders.size(), kMostHolders); ++i)
    blockers.push_back(holder(*holders[i], now));
  add_unavailable(state, *job, blockers);
  add_unhealthy(state, *job, blockers);
  add_avoided(*job, now, blockers);
  if (first == BlockerCode::too_large) return blockers;
  add_account(state, *job, now, blockers);
  add_queue(state, *job, now, blockers);
  return blockers;
}

Foremost::Foremost(const ClusterState& state, const Plan& plan, Time now)
    : by_account_(policy_of(state.scheduling.policy).by_account()) {
  for (const auto& [id, why] : plan.blocked) {
    const Job* job = find_job(state, id);
    if (!job || (job->not_before && *job->not_before > now)) continue;
    if (why.code == BlockerCode::limit) continue;  // it holds nobody back
    const QueueKey key = queue_key(state, *job);
    const auto [best, first] = best_.try_emplace(lane_of(job->request), key);
    if (!first) best->second = std::min(best->second, key);
  }
}

Foremost::Lane Foremost::lane_of(const JobRequest& request) const {
  return {request.kind, by_account_ ? request.account : ""};
}

const Job* Foremost::ahead_of(const ClusterState& state, const Job& job) const {
  const auto best = best_.find(lane_of(job.request));
  return best != best_.end() && best->second < queue_key(state, job) ? find_job(state, best->second.job)
                                                                     : nullptr;
}

std::string waiting_reason(const ClusterState& state, const Plan& plan, const Foremost& foremost, JobId id) {
  const Job* job = find_job(state, id);
  if (!job) return "";
  if (job->state == JobState::stopping) return awaited(state, *job);
  return job->state == JobState::queued ? first_blocker(state, plan, foremost, *job).sentence : "";
}

}  // namespace podium
