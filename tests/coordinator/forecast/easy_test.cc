// With one reservation the default policy is EASY backfill: against a plain implementation of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/coordinator/forecast/given_jobs.h"

namespace podium {
namespace {

using std::chrono::seconds;

// EASY backfill as Mu'alem and Feitelson state it (IEEE TPDS 2001, figure 3), for processors that are all
// alike: start jobs in order while they fit; for the first that does not, find when it will (the shadow time)
// and what it then leaves (the extra processors); start any later job that fits and is over by the shadow
// time or needs no more than the extra ones. Start times in seconds.
class Easy {
 public:
  Easy(int processors, const std::vector<GivenJob>& jobs)
      : free_(processors), jobs_(jobs), starts_(jobs.size()) {}

  std::vector<std::int64_t> run() {
    for (std::size_t arrived = 0; arrived < jobs_.size() || !queue_.empty();) {
      Duration next = arrived < jobs_.size() ? jobs_[arrived].at : Duration::max();
      for (const std::size_t job : running_) next = std::min(next, start(job) + jobs_[job].work);
      now_ = next;
      std::erase_if(running_, [&](std::size_t job) {
        if (start(job) + jobs_[job].work > now_) return false;
        free_ += jobs_[job].devices;
        return true;
      });
      for (; arrived < jobs_.size() && jobs_[arrived].at <= now_; ++arrived) queue_.push_back(arrived);
      schedule();
    }
    return starts_;
  }

 private:
  Duration start(std::size_t job) const { return seconds(starts_[job]); }

  void begin(std::size_t job) {
    starts_[job] = now_ / seconds(1);
    free_ -= jobs_[job].devices;
    running_.push_back(job);
  }

  void schedule() {
    while (!queue_.empty() && jobs_[queue_.front()].devices <= free_) {
      begin(queue_.front());
      queue_.erase(queue_.begin());
    }
    if (queue_.empty()) return;
    std::vector<std::size_t> by_end = running_;
    std::ranges::sort(by_end, {}, [&](std::size_t job) { return start(job) + jobs_[job].walltime; });
    int extra = free_ - jobs_[queue_.front()].devices;
    Duration shadow{};
    for (std::size_t i = 0; extra < 0; ++i) {
      shadow = start(by_end[i]) + jobs_[by_end[i]].walltime;
      extra += jobs_[by_end[i]].devices;
      while (i + 1 < by_end.size() && start(by_end[i + 1]) + jobs_[by_end[i + 1]].walltime == shadow)
        extra += jobs_[by_end[++i]].devices;
    }
    for (std::size_t i = 1; i < queue_.size();) {
      const GivenJob& job = jobs_[queue_[i]];
      const bool over_by_then = now_ + job.walltime <= shadow;
      if (job.devices > free_ || (!over_by_then && job.devices > extra)) {
        ++i;
        continue;
      }
      if (!over_by_then) extra -= job.devices;
      begin(queue_[i]);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  int free_;
  const std::vector<GivenJob>& jobs_;
  std::vector<std::int64_t> starts_;
  std::vector<std::size_t> queue_, running_;
  Duration now_{};
};

TEST(Easy, StartsEveryJobWhenItsOwnRulesDo) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<GivenJob> jobs;
    for (Duration at{}; jobs.size() < 60; at += seconds(random() % 400)) {
      const Duration work = seconds(60 + random() % 3000);
      jobs.push_back({at, 1 + static_cast<int>(random() % (random() % 3 ? 3 : 10)), work,
                      work + seconds(random() % 4000)});
    }
    ClusterState state = one_node(10, PolicyKind::priority_backfill);
    state.scheduling.walltime_weight = 0;
    state.scheduling.reservations = 1;
    state.scheduling.backfill_depth = 1000;
    const Replay lived = live(std::move(state), jobs);
    std::vector<std::int64_t> starts;
    for (const JobOutcome& job : lived.jobs) starts.push_back((*job.first_start - kStart) / seconds(1));
    EXPECT_EQ(starts, Easy(10, jobs).run()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace podium
