// What the scheduler owes to those who wait, over many random loads without faults: a job whose turn it is
// starts when it was promised to at the latest, and no stream of others keeps a job from ever starting.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/forecast/virtual_cluster.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Time kStart = from_millis(1'700'000'000'000);

ClusterState cluster_of(const std::vector<int>& devices, const SchedulingOptions& scheduling) {
  ClusterState state;
  state.scheduling = scheduling;
  for (std::size_t n = 0; n < devices.size(); ++n)
    apply(state, {kStart, NodeJoined{node_with("n" + std::to_string(n), devices[n])}});
  return state;
}

VirtualCluster cluster_at_start(const std::vector<int>& devices, const SchedulingOptions& scheduling) {
  ClusterState state = cluster_of(devices, scheduling);
  apply_all(state, missing_accounts(state, "crowd", kStart));
  return {std::move(state), kStart, [](const Job&) { return Duration{}; }};
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int between(int least, int most) { return std::uniform_int_distribution(least, most)(engine_); }

 private:
  std::mt19937_64 engine_;
};

// Jobs of one priority, that end by themselves at the latest when their walltime does.
void submit_random_jobs(VirtualCluster& cluster, Dice& dice, int most_devices) {
  int at = 0;
  for (int i = 0; i < 60; ++i) {
    at += dice.between(0, 120);
    JobRequest request = request_for(dice.between(1, most_devices));
    if (dice.between(0, 3) == 0) request.per_node = dice.between(1, 2);
    const int work = dice.between(10, 900);
    request.walltime = seconds(work + (dice.between(0, 1) ? 0 : dice.between(0, 1800)));
    cluster.submit(kStart + seconds(at), {"random", {request}}, {seconds(work)});
  }
}

// Between jobs of one priority age alone decides, so that the first to wait stays the first until it starts.
TEST(Promises, OfTheFirstInLineAreKept) {
  int promises = 0, passed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const std::vector<int> nodes(static_cast<std::size_t>(dice.between(1, 5)), dice.between(2, 4));
    VirtualCluster cluster = cluster_at_start(nodes, {.walltime_weight = 0});
    submit_random_jobs(cluster, dice, static_cast<int>(nodes.size()) * nodes.front());

    std::map<JobId, Time> promised;  // to those who have been the first
    cluster.observe([&](const Event& event) {
      const auto* started = std::get_if<AttemptCreated>(&event.body);
      if (!started) return;
      const auto promise = promised.find(started->attempt.job);
      if (promise != promised.end()) {
        EXPECT_LE(event.at, promise->second) << "job " << to_string(started->attempt.job);
      } else if (!promised.empty() && cluster.state().jobs.contains(promised.rbegin()->first)) {
        ++passed;
      }
    });
    while (cluster.step()) {
      if (cluster.plan().reservations.empty()) continue;
      const Reservation& first = cluster.plan().reservations.front();
      if (promised.try_emplace(first.job, first.at).second) ++promises;
    }
    ASSERT_TRUE(cluster.state().jobs.empty());
  }
  EXPECT_GT(promises, 1000);
  EXPECT_GT(passed, 1000) << "nothing was backfilled: the promises were easy to keep";
}

struct Crowd {
  int jobs = 0;  // one every `every`
  Duration every{}, work{};
};

// How long a job of the whole cluster waits that is met by an endless stream of single devices' jobs of the
// highest priority.
Duration wait_in_crowd(const SchedulingOptions& scheduling, const JobRequest& wide, const Crowd& crowd) {
  VirtualCluster cluster = cluster_at_start({4, 4}, scheduling);
  JobRequest narrow = request_for(1);
  narrow.priority = 100;
  narrow.account = "crowd";
  narrow.walltime = crowd.work;
  for (int i = 0; i < crowd.jobs; ++i)
    cluster.submit(kStart + i * crowd.every, {"crowd", {narrow}}, {crowd.work});
  const Time at = kStart + hours(1);
  cluster.submit(at, {"wide", {wide}}, {minutes(10)});

  std::optional<Time> started;
  cluster.observe([&](const Event& event) {
    const auto* created = std::get_if<AttemptCreated>(&event.body);
    if (created && !started && std::ssize(created->allocation.ranks) == wide.devices) started = event.at;
  });
  while (!started && cluster.step()) {
  }
  EXPECT_TRUE(started);
  return started.value_or(Time::max()) - at;
}

JobRequest whole_cluster() {
  JobRequest request = request_for(8);
  request.walltime = minutes(10);
  request.priority = 40;
  return request;
}

// 7.5 of the 8 devices are wanted at any time, for ten days: without a reservation all eight would hardly
// ever be free at once.
constexpr Crowd kBusy{.jobs = 10 * 24 * 60 * 60 / 80, .every = seconds(80), .work = seconds(600)};

TEST(Starvation, AgeingBringsEveryJobToItsTurn) {
  SchedulingOptions options;  // 60 points of priority at an hour each, then the running jobs' walltime
  const Duration wait = wait_in_crowd(options, whole_cluster(), kBusy);
  EXPECT_LE(wait, hours(60) + kBusy.work);
  options.ageing = minutes(1);
  EXPECT_LE(wait_in_crowd(options, whole_cluster(), kBusy), minutes(60) + kBusy.work);
}

// Its walltime puts it behind shorter jobs of its priority, but behind none that comes so much later.
TEST(Starvation, AGangOfTwoWeeksIsPassedByShorterJobsOfItsPriorityForNoLongerThanWalltimeWeighs) {
  JobRequest weeks = whole_cluster();
  weeks.walltime = hours(24 * 14);
  weeks.priority = 100;
  SchedulingOptions options;
  const Duration wait = wait_in_crowd(options, weeks, kBusy);
  EXPECT_LE(wait, hours(options.walltime_points) + kBusy.work);
  EXPECT_GT(wait, hours(options.walltime_points - 1)) << "the crowd is no obstacle";
}

TEST(Starvation, FifoWaitsForTheLastOfThoseBefore) {
  EXPECT_LE(wait_in_crowd({.policy = PolicyKind::fifo}, whole_cluster(), kBusy), kBusy.work);
}

TEST(Starvation, AnIdleAccountsTurnComesAtOnce) {
  EXPECT_LE(wait_in_crowd({.policy = PolicyKind::fair_share}, whole_cluster(), kBusy), kBusy.work);
}

TEST(Starvation, WhoHasHadNothingIsServedBeforeThoseWhoHave) {
  EXPECT_LE(wait_in_crowd({.policy = PolicyKind::least_attained_service}, whole_cluster(), kBusy), hours(1));
}

// The shortest job first lets the longest starve as long as shorter ones come fast enough, by design; it
// starts when they no longer do.
TEST(Starvation, UnderShortestRemainingTimeEndsWithTheCrowd) {
  JobRequest wide = whole_cluster();
  wide.walltime = hours(2);
  constexpr Crowd day{.jobs = 24 * 60 * 60 / 80, .every = seconds(80), .work = seconds(600)};
  const Duration wait = wait_in_crowd({.policy = PolicyKind::shortest_remaining_time}, wide, day);
  EXPECT_LE(wait, hours(23) + day.work);
}

}  // namespace
}  // namespace podium
