#include "common/model/kept_checkpoints.h"

#include <gtest/gtest.h>

#include <set>

namespace podium {
namespace {

JobSpec training(std::int64_t steps, std::int64_t every, int keep) {
  JobSpec spec;
  spec.training.schedule.steps = steps;
  spec.checkpoint = {.every = every, .keep = keep};
  return spec;
}

// As the worker saves and removes, step by step.
std::set<std::int64_t> left_by(const JobSpec& spec) {
  std::set<std::int64_t> there;
  for (std::int64_t step = 1; step <= steps_of(spec.training); ++step) {
    const bool due = spec.checkpoint.every > 0 && step % spec.checkpoint.every == 0;
    if (due || step == steps_of(spec.training)) there.insert(step);
    while (std::ssize(there) > spec.checkpoint.keep) there.erase(there.begin());
  }
  return there;
}

TEST(KeptCheckpoints, AreThoseThatAWholeTrainingLeaves) {
  for (const std::int64_t steps : {1, 7, 20, 21})
    for (const std::int64_t every : {0, 1, 4, 5, 30})
      for (const int keep : {1, 2, 3}) {
        const JobSpec spec = training(steps, every, keep);
        const std::set<std::int64_t> left = left_by(spec);
        for (std::int64_t step = -1; step <= steps + 2; ++step)
          EXPECT_EQ(why_never_kept(spec, step).empty(), left.contains(step))
              << step << " of " << steps << ", every " << every << ", keep " << keep;
      }
}

TEST(KeptCheckpoints, AreUnknownWhereEvaluationsDecide) {
  JobSpec spec = training(20, 5, 1);
  EXPECT_EQ(why_never_kept(spec, 7), "it saves every 5 steps and at its end, at step 20");
  EXPECT_EQ(why_never_kept(spec, 15), "it keeps the newest 1 of its checkpoints (checkpoint.keep)");
  spec.checkpoint.best = "eval/f1";
  EXPECT_EQ(why_never_kept(spec, 7), "");
  EXPECT_EQ(why_never_kept(spec, 1000), "it takes 20 steps alone");
  EXPECT_EQ(why_never_kept(spec, 0), "a checkpoint is of step 1 or a later one");
  spec.checkpoint.best.clear();
  spec.target = TargetSpec{.metric = "eval/f1", .at_least = 80, .at_most = {}};
  EXPECT_EQ(why_never_kept(spec, 15), "");
}

TEST(KeptCheckpoints, CountTheStepsOfAllPhases) {
  JobSpec spec = training(20, 10, 2);
  spec.training.phases.push_back({.schedule = {.steps = 10}});
  EXPECT_EQ(steps_of(spec.training), 30);
  EXPECT_EQ(why_never_kept(spec, 30), "");
}

}  // namespace
}  // namespace podium
