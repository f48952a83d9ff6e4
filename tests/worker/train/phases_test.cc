#include "worker/train/phases.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TrainingSpec two_phases() {
  TrainingSpec training;
  training.optimizer.lr = 6e-3;
  training.schedule.steps = 7038;
  training.batch = {65536, 64};
  training.sequence_length = 128;
  training.masking.max_predictions = 20;
  training.seed = 7;
  PhaseSpec second;
  second.schedule.steps = 1563;
  second.lr = 4e-3;
  second.batch = {32768, 8};
  second.sequence_length = 512;
  second.max_predictions = 80;
  training.phases = {second};
  return training;
}

TEST(Phases, ALaterPhaseChangesOnlyWhatItSays) {
  const std::vector<TrainingPhase> phases = training_phases(two_phases());
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].training.sequence_length, 128);
  EXPECT_EQ(phases[0].last_step(), 7038);
  const TrainingPhase& second = phases[1];
  EXPECT_EQ(second.index, 1);
  EXPECT_EQ(second.steps_before, 7038);
  EXPECT_EQ(second.last_step(), 7038 + 1563);
  EXPECT_EQ(second.training.optimizer.lr, 4e-3);
  EXPECT_EQ(second.training.batch.global, 32768);
  EXPECT_EQ(second.training.batch.micro, 8);
  EXPECT_EQ(second.training.sequence_length, 512);
  EXPECT_EQ(second.training.masking.max_predictions, 80);
  EXPECT_EQ(second.training.seed, 7U);
}

TEST(Phases, AStepBelongsToThePhaseItFallsInto) {
  const std::vector<TrainingPhase> phases = training_phases(two_phases());
  EXPECT_EQ(phase_of(phases, 1).index, 0);
  EXPECT_EQ(phase_of(phases, 7038).index, 0);
  EXPECT_EQ(phase_of(phases, 7039).index, 1);
  EXPECT_EQ(phase_of(phases, 9999).index, 1) << "beyond the end";
}

}  // namespace
}  // namespace podium
