#include "coordinator/core/preemption.h"

#include <algorithm>
#include <tuple>

#include "coordinator/core/reservations.h"

namespace podium {
namespace {

// An attempt in the last part of its walltime, or about to end anyway, is left alone.
constexpr int kAlmostDoneParts = 20;
constexpr Duration kAlmostDone = std::chrono::minutes(1);

struct Candidate {
  const Job* job = nullptr;
  std::int64_t rank = 0;
  Duration lost{};  // device time since the last checkpoint
};

bool almost_done(const Job& job, Time now) {
  const Duration left = job.attempt->created + job.request.walltime - now;
  return left < std::max(kAlmostDone, job.request.walltime / kAlmostDoneParts);
}

Duration lost_work(const Job& job, Time now) {
  Time since = job.attempt->started.value_or(now);
  if (job.saved) since = std::max(since, *job.saved);
  return std::max(now - since, Duration{}) * job.request.devices;
}

std::vector<Candidate> candidates(const ClusterState& state, const Policy& policy, const Job& blocked,
                                  Time now) {
  std::vector<JobId> timed;  // by id: with neighbours in the map after one another, few looks miss the cache
  for (const auto& [time, id] : state.timers) timed.push_back(id);
  std::ranges::sort(timed);
  std::vector<Candidate> found;
  for (const JobId id : timed) {
    const Job& job = state.jobs.at(id);
    if (!job.attempt || job.request.kind != blocked.request.kind || almost_done(job, now)) continue;
    if (policy.may_preempt(state.scheduling, blocked, job, now))
      found.push_back({&job, policy.rank(state.scheduling, job, now), lost_work(job, now)});
  }
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.rank, a.lost, b.job->id) < std::tuple(-b.rank, b.lost, a.job->id);
  });
  return found;
}

}  // namespace

std::vector<JobId> choose_victims(const ClusterState& state, const Policy& policy, DevicePool pool,
                                  const Job& blocked, Time now) {
  const Shape shape = shape_of(blocked.request);
  const auto holds = [&](const FreeDevices& free) {
    if (state.windows.empty()) return fits(free, shape);
    FreeDevices open = free;
    close_windows(state, now, now + blocked.request.walltime, open);
    return fits(open, shape);
  };
  std::vector<const Job*> victims;
  for (const Candidate& candidate : candidates(state, policy, blocked, now)) {
    if (holds(pool.free)) break;
    release(state, *candidate.job, pool);
    victims.push_back(candidate.job);
  }
  if (!holds(pool.free)) return {};
  std::vector<JobId> needed;
  for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
    take_back(state, **victim, pool);
    if (holds(pool.free)) continue;
    release(state, **victim, pool);
    needed.push_back((*victim)->id);
  }
  return needed;
}

}  // namespace podium
