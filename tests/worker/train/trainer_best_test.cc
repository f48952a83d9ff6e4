// The checkpoint with the best held-out metric: saved when it is told, kept, and known after a restart.
#include "tests/worker/train/trainer_fixture.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class StoppedTrainer : public TrainerOf {
 protected:
  // Of six steps; the second is the best so far.
  void run_to_step_4() {
    spec_.training.schedule.steps = 6;
    spec_.checkpoint = {1, 1};
    spec_.evaluate.every = 1;
    best_ = BestRule{"eval/score", Goal::max};
    run(script_);
  }

  Script script_{.scores = {1, 5, 2, 4, 4.5, 6}, .stop_before = 4};
};

// Saves what is best so far, due or not, and keeps it beside the newest.
TEST_F(TrainerOf, TheBestCheckpointIsSavedAtOnceAndKept) {
  spec_.training.schedule.steps = 8;
  spec_.checkpoint = {4, 2};
  spec_.evaluate.every = 1;
  best_ = BestRule{"eval/score", Goal::max};
  Script script{.scores = {1, 3, 2, 3, 2.5, 0, 1, 2}};
  run(script);
  EXPECT_THAT(told_best(), ElementsAre(std::pair(1, 1.0), std::pair(2, 3.0)));
  EXPECT_THAT(kept(), ElementsAre(8, 4, 2)) << "2 is older than the newest two, and the best";
  EXPECT_EQ(state_at(8).best, (BestCheckpoint{"eval/score", 2, 3}));
  EXPECT_EQ(state_at(2).best, (BestCheckpoint{"eval/score", 2, 3})) << "it tells of itself";
}

TEST_F(TrainerOf, WithoutARuleNoCheckpointIsBest) {
  spec_.training.schedule.steps = 4;
  spec_.checkpoint = {2, 1};
  spec_.evaluate.every = 1;
  Script script{.scores = {1, 3, 2, 3}};
  run(script);
  EXPECT_THAT(told_best(), SizeIs(0));
  EXPECT_THAT(kept(), ElementsAre(4));
  EXPECT_FALSE(state_at(4).best.known());
}

TEST_F(TrainerOf, OneThatIsDueAndBestIsSavedOnce) {
  spec_.training.schedule.steps = 4;
  spec_.checkpoint = {2, 5};
  spec_.evaluate.every = 2;
  best_ = BestRule{"eval/score", Goal::min};
  Script script{.scores = {9, 3, 9, 2}};
  run(script);
  EXPECT_THAT(told<CheckpointEvent>(), SizeIs(2));
  EXPECT_THAT(told_best(), ElementsAre(std::pair(2, 3.0), std::pair(4, 2.0)));
}

TEST_F(StoppedTrainer, ARunThatGoesOnKnowsWhatWasBest) {
  run_to_step_4();
  EXPECT_THAT(kept(), ElementsAre(4, 2));
  script_.stop_before = ~std::size_t{0};
  run(script_);
  EXPECT_THAT(told_best(), ElementsAre(std::pair(1, 1.0), std::pair(2, 5.0), std::pair(6, 6.0)));
  EXPECT_THAT(kept(), ElementsAre(6)) << "2 is the best no more";
}

// The attempt before may have died when they were whole and not told.
TEST_F(StoppedTrainer, ARunThatGoesOnTellsOnceMoreOfWhatItFound) {
  run_to_step_4();
  std::filesystem::remove(events_path());
  script_.stop_before = ~std::size_t{0};
  run(script_);
  std::vector<std::pair<std::int64_t, std::optional<BestValue>>> again;
  for (const CheckpointEvent& saved : told<CheckpointEvent>())
    if (saved.again) again.emplace_back(saved.step, saved.best);
  EXPECT_THAT(again, ElementsAre(std::pair(2, BestValue{"eval/score", 5}), std::pair(4, std::nullopt)));
}

// Its metric or its checkpoint may be gone: then the next evaluation is the best.
TEST_F(TrainerOf, WhatWasBestIsForgottenWithItsCheckpointAndWithItsMetric) {
  spec_.training.schedule.steps = 8;
  spec_.checkpoint = {1, 1};
  spec_.evaluate.every = 1;
  best_ = BestRule{"eval/score", Goal::max};
  Script script{.scores = {1, 5, 2, 4, 4.5, 3, 1, 2}, .stop_before = 4};
  run(script);
  std::filesystem::remove_all(checkpoints() / checkpoint_name(2));
  script.served.clear();
  script.stop_before = 1;
  run(script);
  EXPECT_EQ(told_best().back(), std::pair(std::int64_t{5}, 4.5));
  best_->metric = "eval/other";
  script.served.clear();
  script.stop_before = ~std::size_t{0};
  run(script);
  EXPECT_FALSE(state_at(8).best.known());
}

TEST_F(TrainerOf, APhaseHasABestOfItsOwn) {
  spec_.training.schedule.steps = 3;
  spec_.training.phases = {{spec_.training.schedule, 2e-2, spec_.training.batch, kTrainedLength + 8, 0}};
  spec_.evaluate.every = 1;
  best_ = BestRule{"eval/score", Goal::max};
  Script script{.scores = {1, 9, 1}};  // of each phase
  run(script);
  EXPECT_THAT(told_best(),
              ElementsAre(std::pair(1, 1.0), std::pair(2, 9.0), std::pair(4, 1.0), std::pair(5, 9.0)));
  EXPECT_EQ(state_at(6).best, (BestCheckpoint{"eval/score", 5, 9}));
}

TEST_F(TrainerOf, WhatWasBestOfAnotherJobIsNotOfTheOneThatGoesOn) {
  spec_.training.schedule.steps = 4;
  spec_.evaluate.every = 1;
  best_ = BestRule{"eval/score", Goal::max};
  Script script{.scores = {9, 8, 7, 6, 5, 4}};
  run(script);
  const std::filesystem::path other = checkpoints();
  folder_name_ = "next";
  spec_.training.schedule.steps = 6;
  run(script, other);
  EXPECT_THAT(told_best(), ElementsAre(std::pair(5, 5.0)));
}

}  // namespace
}  // namespace podium
