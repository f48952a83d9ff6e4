#include "coordinator/api/known_checkpoints.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

using std::chrono::minutes;

const Time kNow = from_millis(1'700'000'000'000);

std::vector<CheckpointView> saved(int attempt, const std::vector<std::int64_t>& steps) {
  std::vector<CheckpointView> all;
  for (const std::int64_t step : steps) all.push_back({attempt, step, {}, "step-" + std::to_string(step)});
  return all;
}

std::vector<CheckpointView> joined(std::vector<CheckpointView> a, const std::vector<CheckpointView>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::int64_t> there(const std::vector<CheckpointView>& all, int keep) {
  const std::vector<bool> removed = removed_checkpoints(all, keep);
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!removed[i]) steps.push_back(all[i].step);
  return steps;
}

using Steps = std::vector<std::int64_t>;

TEST(RemovedCheckpoints, AreThoseBeforeTheNewestFewAndTheBest) {
  std::vector<CheckpointView> all = saved(1, {100, 200, 300, 400});
  EXPECT_EQ(there(all, 2), (Steps{300, 400}));
  EXPECT_EQ(there(all, 4), (Steps{100, 200, 300, 400}));
  all[0].best = {"eval/f1", 88};
  EXPECT_EQ(there(all, 2), (Steps{100, 300, 400}));
  EXPECT_EQ(there({}, 2), Steps{});
}

// 300 and 400 were not whole, so the second attempt went on from 200 and set them aside.
TEST(RemovedCheckpoints, AreNotThoseThatALaterAttemptFellBackTo) {
  EXPECT_EQ(there(joined(saved(1, {100, 200, 300}), saved(2, {250})), 2), (Steps{200, 300, 250}));
  EXPECT_EQ(there(joined(saved(1, {100, 200}), saved(2, {300, 400})), 2), (Steps{300, 400}));
  EXPECT_EQ(there(joined(saved(1, {300, 400}), saved(2, {100})), 2), (Steps{300, 400, 100}));
}

KnownJob ended_with(std::vector<CheckpointView> checkpoints) {
  KnownJob job;
  job.has_run = true;
  job.ended = kNow - minutes(10);
  job.checkpoints = std::move(checkpoints);
  job.spec.checkpoint = {.every = 100, .keep = 2};
  job.spec.training.schedule.steps = 400;
  return job;
}

TEST(WhyNoCheckpoint, IsToldWhereNoneWasSavedOrItIsGone) {
  const KnownJob job = ended_with(saved(1, {100, 200, 300, 400}));
  EXPECT_EQ(why_no_checkpoint(job, {}, kNow), "");
  EXPECT_EQ(why_no_checkpoint(job, 300, kNow), "");
  EXPECT_EQ(why_no_checkpoint(job, 200, kNow),
            "newer checkpoints have taken the place of that of step 200; it has those of 300, 400");
  EXPECT_EQ(why_no_checkpoint(job, 350, kNow), "it has no checkpoint of step 350, only of 300, 400");
  EXPECT_EQ(why_no_checkpoint(ended_with({}), {}, kNow), "it has ended without a checkpoint");
  EXPECT_EQ(why_no_checkpoint(ended_with({}), 100, kNow), "it has ended without a checkpoint");
}

TEST(WhyNoCheckpoint, WhatANodeThatWasLostMayStillTellIsNotDenied) {
  KnownJob job = ended_with({});
  job.silent = true;
  EXPECT_EQ(why_no_checkpoint(job, std::nullopt, *job.ended + std::chrono::hours(1)), "");
  job.silent = false;
  EXPECT_NE(why_no_checkpoint(job, std::nullopt, *job.ended + std::chrono::hours(1)), "");
}

TEST(WhyNoCheckpoint, IsNotSaidOfWhatMayStillBeToldOrSaved) {
  KnownJob job = ended_with({});
  job.ended = kNow - minutes(1);
  EXPECT_EQ(why_no_checkpoint(job, {}, kNow), "") << "its files may still be on their way";
  EXPECT_EQ(why_no_checkpoint(job, 100, kNow), "");
  job.has_run = false;
  EXPECT_EQ(why_no_checkpoint(job, {}, kNow), "it has ended without having run");
  job.has_run = true, job.ended.reset();
  EXPECT_EQ(why_no_checkpoint(job, {}, kNow), "");
  EXPECT_EQ(why_no_checkpoint(job, 400, kNow), "");
  EXPECT_EQ(why_no_checkpoint(job, 450, kNow), "it takes 400 steps alone");
  job.checkpoints = saved(1, {150});
  EXPECT_EQ(why_no_checkpoint(job, 150, kNow), "") << "it was asked to leave there";
  job.ended = kNow - minutes(10);
  job.checkpoints.clear();
  job.spec.command = {"./train"};
  EXPECT_EQ(why_no_checkpoint(job, {}, kNow), "") << "a program need not tell of its own";
}

}  // namespace
}  // namespace podium
