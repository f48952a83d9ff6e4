#include "coordinator/core/policies/policy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/check.h"
#include "coordinator/core/policies/fair_share.h"
#include "coordinator/core/policies/fifo.h"
#include "coordinator/core/policies/least_attained_service.h"
#include "coordinator/core/policies/priority_backfill.h"
#include "coordinator/core/policies/shortest_remaining_time.h"

namespace podium {
namespace {

// The device times at which a job sinks a level.
constexpr std::array<Duration, 3> kLevels{std::chrono::hours(1), std::chrono::hours(8),
                                          std::chrono::hours(64)};

constexpr std::array kPolicies{PolicyKind::fifo, PolicyKind::priority_backfill,
                               PolicyKind::least_attained_service, PolicyKind::shortest_remaining_time,
                               PolicyKind::fair_share};

Duration run_time(const Standing& job, Time now) {
  return job.served + (job.started ? now - *job.started : Duration{});
}

const Fifo kFifo;
const PriorityBackfill kPriorityBackfill;
const LeastAttainedService kLeastAttainedService;
const ShortestRemainingTime kShortestRemainingTime;
const FairShare kFairShare;

}  // namespace

int LeastAttainedService::level(const Standing& job, Time now) {
  const Duration attained = job.attained + (run_time(job, now) - job.served) * job.devices;
  return static_cast<int>(std::ranges::upper_bound(kLevels, attained) - kLevels.begin());
}

Duration ShortestRemainingTime::remaining(const Standing& job, Time now) {
  return std::max(job.walltime - run_time(job, now), Duration{});
}

Duration weight_of_walltime(const SchedulingOptions& options, Duration walltime) {
  const double weight = options.walltime_weight * static_cast<double>(walltime.count());
  const double most = options.walltime_points * static_cast<double>(options.ageing.count());
  return Duration(std::llround(std::min(weight, most)));
}

const Policy& policy_of(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::fifo:
      return kFifo;
    case PolicyKind::priority_backfill:
      return kPriorityBackfill;
    case PolicyKind::least_attained_service:
      return kLeastAttainedService;
    case PolicyKind::shortest_remaining_time:
      return kShortestRemainingTime;
    case PolicyKind::fair_share:
      return kFairShare;
  }
  PODIUM_CHECK(false, "a policy without a name");
}

std::optional<PolicyKind> policy_named(std::string_view name) {
  const auto found =
      std::ranges::find(kPolicies, name, [](PolicyKind kind) { return policy_of(kind).name(); });
  return found == kPolicies.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyKind kind : kPolicies) names.emplace_back(policy_of(kind).name());
  return names;
}

QueueKey queue_key(const ClusterState& state, const Job& job) {
  return {policy_of(state.scheduling.policy).rank(state.scheduling, standing_of(job), job.submitted),
          job.submitted, job.id};
}

}  // namespace podium
