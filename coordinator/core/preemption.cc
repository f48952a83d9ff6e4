#include "coordinator/core/preemption.h"

#include <algorithm>
#include <tuple>

#include "coordinator/core/reservations.h"

namespace podium {
namespace {

// An attempt in the last 10 minutes or 5 % of its walltime, whichever is more, is left alone; of a short one,
// no more than its second half.
constexpr int kAlmostDoneParts = 20;
constexpr Duration kAlmostDone = std::chrono::minutes(10);

struct Candidate {
  const Job* job = nullptr;
  std::int64_t rank = 0;
  Duration lost{};  // device time since the last checkpoint
};

template <class Filter>
std::vector<Candidate> candidates(const ClusterState& state, const Job& blocked, Time now,
                                  const Filter& may_stop) {
  std::vector<JobId> timed;  // by id: with neighbours in the map after one another, few looks miss the cache
  for (const auto& [time, id] : state.timers) timed.push_back(id);
  std::ranges::sort(timed);
  std::vector<Candidate> found;
  for (const JobId id : timed) {
    const Job& job = state.jobs.at(id);
    if (!job.attempt || job.request.kind != blocked.request.kind || almost_done(job, now)) continue;
    if (may_stop(job)) found.push_back({&job, 0, lost_work(job, now)});
  }
  return found;
}

// In the order given, least first.
void sort(std::vector<Candidate>& found) {
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.rank, a.lost, b.job->id) < std::tuple(-b.rank, b.lost, a.job->id);
  });
}

// As many of the candidates, in their order, as make room, less those that turn out not to be needed.
std::vector<JobId> as_needed(const ClusterState& state, const std::vector<Candidate>& sorted, DevicePool pool,
                             AccountLedger ledger, const Job& blocked, Time now) {
  const auto holds = [&](const DevicePool& now_free) { return has_room(state, now_free, blocked, now); };
  std::vector<const Job*> victims;
  for (const auto& [job, rank, lost] : sorted) {
    if (holds(pool)) break;
    if (!ledger.may_take(job->request.account, job->devices(), blocked.request)) continue;
    ledger.change(job->request.account, -job->devices());
    release(state, *job, pool);
    victims.push_back(job);
  }
  if (!holds(pool)) return {};
  std::vector<JobId> needed;
  for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
    take_back(state, **victim, pool);
    if (holds(pool)) continue;
    release(state, **victim, pool);
    needed.push_back((*victim)->id);
  }
  std::ranges::reverse(needed);  // in the order in which their accounts could spare them
  return needed;
}

}  // namespace

bool almost_done(const Job& job, Time now) {
  const Duration left = job.attempt->created + job.request.walltime - now;
  const Duration walltime = job.request.walltime;
  return left < std::min(std::max(kAlmostDone, walltime / kAlmostDoneParts), walltime / 2);
}

Duration lost_work(const Job& job, Time now) {
  Time since = job.attempt->started.value_or(now);
  if (job.saved) since = std::max(since, *job.saved);
  return std::max(now - since, Duration{}) * job.devices();
}

std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  AccountLedger ledger, const Job& blocked, Time now) {
  std::vector<Candidate> found = candidates(state, blocked, now, [&](const Job& job) {
    return policy.may_preempt(state.scheduling, blocked, job, now);
  });
  for (Candidate& candidate : found) candidate.rank = policy.rank(state.scheduling, *candidate.job, now);
  sort(found);
  return as_needed(state, found, std::move(pool), std::move(ledger), blocked, now);
}

std::vector<JobId> choose_borrowers(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                    const Job& blocked, const std::string& account, Time now) {
  std::vector<Candidate> found = candidates(
      state, blocked, now, [&](const Job& job) { return !is_at_or_below(job.request.account, account); });
  sort(found);
  return as_needed(state, found, std::move(pool), std::move(ledger), blocked, now);
}

}  // namespace podium
