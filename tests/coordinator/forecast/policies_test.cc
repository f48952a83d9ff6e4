// The policies against what is known of them: published examples, other implementations of the same rule, and
// the best of all schedules where there are few enough to try them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/coordinator/forecast/given_jobs.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// In whole seconds since kStart.
std::vector<std::int64_t> ends(const Replay& lived) {
  std::vector<std::int64_t> all;
  for (const JobOutcome& job : lived.jobs) all.push_back((*job.end - kStart) / seconds(1));
  return all;
}

std::int64_t total_flow(const std::vector<GivenJob>& jobs, const Replay& lived) {
  std::int64_t total = 0;
  const auto all = ends(lived);
  for (std::size_t i = 0; i < jobs.size(); ++i) total += all[i] - jobs[i].at / seconds(1);
  return total;
}

// Arpaci-Dusseau and Arpaci-Dusseau, Operating Systems: Three Easy Pieces, chapter "Scheduling:
// Introduction": jobs of 100, 10 and 10 seconds take 110 s on average first come, first served, and 50 s
// shortest first; where the short ones come 10 s later, stopping the long one for them makes it 50 s as well.
TEST(Policies, GiveTheTextbooksMeanTurnaround) {
  const std::vector<GivenJob> together{{{}, 1, seconds(100), seconds(100)},
                                       {{}, 1, seconds(10), seconds(10)},
                                       {{}, 1, seconds(10), seconds(10)}};
  EXPECT_EQ(total_flow(together, live(one_node(1, PolicyKind::fifo), together)), 3 * 110);
  EXPECT_EQ(total_flow(together, live(one_node(1, PolicyKind::shortest_remaining_time), together)), 3 * 50);
  std::vector<GivenJob> later = together;
  later[1].at = later[2].at = seconds(10);
  EXPECT_EQ(ends(live(one_node(1, PolicyKind::shortest_remaining_time), later)),
            (std::vector<std::int64_t>{120, 20, 30}));
}

// The least total flow time of all orders in which one machine can run jobs that are all there.
std::int64_t best_of_all_orders(const std::vector<GivenJob>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t best = INT64_MAX;
  do {
    std::int64_t at = 0, total = 0;
    for (const std::size_t job : order) total += at += jobs[job].work / seconds(1);
    best = std::min(best, total);
  } while (std::ranges::next_permutation(order).found);
  return best;
}

TEST(Policies, ShortestRemainingTimeIsTheBestOfAllOrdersOnOneMachine) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    std::vector<GivenJob> jobs;
    for (int i = 0; i < 7; ++i) {
      const Duration work = seconds(1 + random() % 5000);
      jobs.push_back({{}, 1, work, work});
    }
    EXPECT_EQ(total_flow(jobs, live(one_node(1, PolicyKind::shortest_remaining_time), jobs)),
              best_of_all_orders(jobs))
        << "seed " << seed;
  }
}

// Tiresias (Gu et al., NSDI 2019), discretized 2D-LAS: what sinks a job is devices × time, here at one device
// hour, so a job of two devices sinks in 30 minutes and makes room for a newer one; one of a single device
// keeps it for 60.
TEST(Policies, LeastAttainedServiceCountsDevicesTimesTime) {
  const auto run = [](int devices) {
    return ends(live(one_node(devices, PolicyKind::least_attained_service),
                     {{{}, devices, hours(2), hours(4)}, {minutes(10), 1, minutes(30), hours(4)}}));
  };
  EXPECT_EQ(run(2), (std::vector<std::int64_t>{150 * 60, 60 * 60})) << "stopped at 30 min for 30 min";
  EXPECT_EQ(run(1), (std::vector<std::int64_t>{150 * 60, 90 * 60})) << "stopped at 60 min for 30 min";
  EXPECT_EQ(ends(live(one_node(2, PolicyKind::fifo),
                      {{{}, 2, hours(2), hours(4)}, {minutes(10), 1, minutes(30), hours(4)}})),
            (std::vector<std::int64_t>{120 * 60, 150 * 60}));
}

// The order of Bender, Chakrabarti and Muthukrishnan (SODA 1998), earliest deadline at equal stretch: a short
// job passes a long one unless that has waited for longer than it asks for more.
TEST(Policies, PriorityBackfillLetsAShortJobPassALongOneForNoLongerThanThatAsksFor) {
  const auto starts_first = [](double weight, Duration later) {
    ClusterState state = one_node(1, PolicyKind::priority_backfill);
    state.scheduling.walltime_weight = weight;
    const Replay lived = live(std::move(state), {{{}, 1, hours(20), hours(20)},
                                                 {hours(1), 1, hours(8), hours(8)},
                                                 {hours(1) + later, 1, hours(1), hours(1)}});
    return lived.jobs[2].first_start < lived.jobs[1].first_start;
  };
  EXPECT_TRUE(starts_first(1, hours(7) - seconds(1)));
  EXPECT_FALSE(starts_first(1, hours(7) + seconds(1)));
  EXPECT_TRUE(starts_first(2, hours(13)));
  EXPECT_FALSE(starts_first(0, seconds(1))) << "by age alone";
}

// A walltime counted without bound: the most urgent job of two weeks stood behind every short one.
TEST(Policies, NoWalltimeOutweighsAPriorityThatIsHigherByMoreThanItsPoints) {
  const auto urgent_starts_first = [](int ahead) {
    ClusterState state = one_node(1, PolicyKind::priority_backfill);
    const int points = state.scheduling.walltime_points;
    const Replay lived =
        live(std::move(state), {{{}, 1, hours(1), hours(1)},
                                {seconds(1), 1, hours(1), hours(1), "default", 50},
                                {seconds(1), 1, hours(1), hours(24 * 14), "default", 50 + points + ahead}});
    return lived.jobs[2].first_start < lived.jobs[1].first_start;
  };
  EXPECT_TRUE(urgent_starts_first(0)) << "the short one's hour counts too";
  EXPECT_FALSE(urgent_starts_first(-1 - 1));
}

// Device time that the jobs of an account had until `end`, which never stopped.
double device_seconds(const std::vector<GivenJob>& jobs, const Replay& lived, const std::string& account,
                      Time end) {
  double total = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& job = lived.jobs[i];
    if (jobs[i].account != account || !job.first_start || *job.first_start >= end) continue;
    total += jobs[i].devices *
             std::chrono::duration<double>(std::min(job.end.value_or(end), end) - *job.first_start).count();
  }
  return total;
}

// The last of an account's jobs to start.
std::size_t last_of(const std::vector<GivenJob>& jobs, const Replay& lived, const std::string& account) {
  std::size_t last = jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].account == account &&
        (last == jobs.size() || lived.jobs[last].first_start < lived.jobs[i].first_start))
      last = i;
  return last;
}

// While all of them have jobs waiting, accounts get device time by their shares, at every level of the tree.
TEST(Policies, FairShareGivesBackloggedAccountsTheirShares) {
  ClusterState state = one_node(24, PolicyKind::fair_share);
  const auto share = [&](const std::string& account, int value) {
    apply(state, {kStart, AccountChanged{account, {value, {}, {}}}});
  };
  share("nlp", 5);
  share("vision", 2);
  share("nlp/bert", 3);
  std::mt19937 random(7);
  std::vector<GivenJob> jobs;
  for (int i = 0; i < 500; ++i)
    for (const char* account : {"nlp/bert", "nlp/gpt", "vision", "speech"}) {
      const Duration work = minutes(5 + random() % 55);
      jobs.push_back({{}, 1 + static_cast<int>(random() % 4), work, work * 2, account});
    }
  const Time end = kStart + hours(48);
  const Replay lived = live(state, jobs);
  const std::vector<std::pair<const char*, double>> expected{
      {"nlp/bert", 5 / 8.0 * 3 / 4}, {"nlp/gpt", 5 / 8.0 / 4}, {"vision", 2 / 8.0}, {"speech", 1 / 8.0}};
  double all = 0;
  for (const auto& [account, part] : expected) all += device_seconds(jobs, lived, account, end);
  EXPECT_GT(all, 0.9 * 24 * 48 * 3600);
  for (const auto& [account, part] : expected) {
    EXPECT_GT(lived.jobs[last_of(jobs, lived, account)].first_start, end)
        << account << " is backlogged all the time";
    EXPECT_NEAR(device_seconds(jobs, lived, account, end) / all, part, 0.03 * part) << account;
  }
}

}  // namespace
}  // namespace podium
