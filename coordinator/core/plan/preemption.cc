#include "coordinator/core/plan/preemption.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "coordinator/core/plan/reservations.h"

namespace podium {
namespace {

// An attempt is not stopped in the last 10 minutes or 5 % of its walltime, whichever is longer, but at most
// in the second half of it.
constexpr int kAlmostDoneParts = 20;
constexpr Duration kAlmostDone = std::chrono::minutes(10);

// More devices than there are: if an account may not be asked for these, no single job of it may be stopped.
constexpr int kAnyNumber = 1'000'000'000;

bool almost_done(Time created, Duration walltime, Time now) {
  const Duration left = created + walltime - now;
  return left < std::min(std::max(kAlmostDone, walltime / kAlmostDoneParts), walltime / 2);
}

// A starting job is not stopped until it runs: otherwise the next plan would stop an elastic job that has
// just started with its new size, before all others.
bool is_restarting(const RunningJob& job) { return job.attempt > 1 && !job.standing.started; }

Duration lost_work(const Standing& standing, const std::optional<Time>& saved, Time now) {
  Time since = standing.started.value_or(now);
  if (saved) since = std::max(since, *saved);
  return std::max(now - since, Duration{}) * standing.devices;
}

// The search for jobs to stop: candidates are added in any order, and only as many are taken as necessary.
class RoomSearch {
 public:
  RoomSearch(const ClusterState& state, DevicePool pool, AccountLedger ledger, const Job& blocked, Time now)
      : state_(state), pool_(std::move(pool)), ledger_(std::move(ledger)), blocked_(blocked), now_(now) {}

  // Whether the job fits now.
  bool done() const { return has_room(state_, pool_, blocked_, now_); }

  // Adds the accounts' running jobs that may be stopped; those of the highest `rank` are stopped first.
  template <class OfAccount, class MayStop, class Rank>
  void add(const OfAccount& of_account, const MayStop& may_stop, const Rank& rank) {
    const std::string& kind = blocked_.request.kind;
    for (auto group = state_.indexes.running.lower_bound({kind, ""}); group != state_.indexes.running.end();
         ++group) {
      const auto& [key, jobs] = *group;
      if (key.kind != kind) break;
      if (!of_account(key.account) || !may_take(key.account, kAnyNumber)) continue;
      for (const RunningJob& job : jobs)
        if (!almost_done(job.created, job.standing.walltime, now_) && !is_restarting(job) &&
            may_stop(job.standing))
          candidates_.push_back(
              {&job, &key.account, rank(job.standing), lost_work(job.standing, job.saved, now_)});
    }
  }

  // As many candidates, in their order, as make room, without those that turn out to be unnecessary. Empty
  // where all together are not enough.
  std::vector<JobId> choose() {
    std::make_heap(candidates_.begin(), candidates_.end());
    std::vector<const RunningJob*> victims;
    while (!done()) {
      if (candidates_.empty()) return {};
      std::pop_heap(candidates_.begin(), candidates_.end());
      const Candidate next = candidates_.back();
      candidates_.pop_back();
      if (!may_take(*next.account, next.job->standing.devices)) continue;
      ledger_.change(*next.account, -next.job->standing.devices);
      add_devices(state_, *next.job, pool_);
      victims.push_back(next.job);
    }
    return needed_of(victims);
  }

 private:
  struct Candidate {
    const RunningJob* job;
    const std::string* account;
    std::int64_t rank;
    Duration lost;

    // Whether it is stopped after the other: first the least deserving, then the one that loses least, then
    // the youngest.
    bool operator<(const Candidate& other) const {
      return std::tuple(rank, other.lost, job->job) < std::tuple(other.rank, lost, other.job->job);
    }
  };

  bool may_take(const std::string& account, int devices) const {
    return ledger_.may_take(account, devices, blocked_.request);
  }

  std::vector<JobId> needed_of(const std::vector<const RunningJob*>& victims) {
    std::vector<JobId> needed;
    for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
      remove_devices(state_, **victim, pool_);
      if (done()) continue;
      add_devices(state_, **victim, pool_);
      needed.push_back((*victim)->job);
    }
    std::ranges::reverse(needed);  // in the order in which their accounts could spare them
    return needed;
  }

  const ClusterState& state_;
  DevicePool pool_;
  AccountLedger ledger_;
  const Job& blocked_;
  Time now_;
  std::vector<Candidate> candidates_;
};

}  // namespace

bool almost_done(const Job& job, Time now) {
  return almost_done(job.attempt->created, job.request.walltime, now);
}

Duration lost_work(const Job& job, Time now) { return lost_work(standing_of(job), job.saved, now); }

std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  AccountLedger ledger, const Job& blocked, Time now) {
  RoomSearch search(state, std::move(pool), std::move(ledger), blocked, now);
  if (search.done()) return {};
  const Standing standing = standing_of(blocked);
  search.add(
      [&](const std::string& account) { return !policy.by_account() || account == blocked.request.account; },
      [&](const Standing& running) { return policy.may_preempt(state.scheduling, standing, running, now); },
      [&](const Standing& running) { return policy.rank(state.scheduling, running, now); });
  return search.choose();
}

std::vector<JobId> choose_borrowers(const ClusterState& state, DevicePool pool, AccountLedger ledger,
                                    const Job& blocked, const std::string& account, Time now) {
  RoomSearch search(state, std::move(pool), std::move(ledger), blocked, now);
  if (search.done()) return {};
  search.add([&](const std::string& other) { return !is_at_or_below(other, account); },
             [](const Standing&) { return true; }, [](const Standing&) { return 0; });
  return search.choose();
}

}  // namespace podium
