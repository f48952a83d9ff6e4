// The loop around steps that fail or are never taken: what counts, what is told, where data go on. The model
// is a real one, its batches are made up.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "tests/worker/comm/world.h"
#include "tests/worker/train/trainer_fixture.h"
#include "worker/data/failure.h"
#include "worker/formats/safetensors.h"
#include "worker/train/schedule.h"

namespace podium {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class TrainerIn : public TrainerOf, public testing::WithParamInterface<Precision> {
 protected:
  TrainerIn() { spec_.training.precision = GetParam(); }
};

// In fp16 a batch that is passed over also changes the scale, and so all weights after it.
class TrainerWithoutLossScale : public TrainerIn {};

std::vector<Batch> numbers(std::initializer_list<std::int64_t> list) {
  std::vector<Batch> batches;
  for (const std::int64_t number : list) batches.emplace_back(kTrainedLength, number);
  return batches;
}

// The first scale is far too large for so small a batch: real gradients overflow.
TEST_F(TrainerOf, Fp16PassesOverWhatOverflowsAndThenTakesEveryStepOfTheSchedule) {
  spec_.training.precision = Precision::fp16;
  spec_.training.schedule.steps = 8;
  Script script;
  const std::vector<float> weights = run(script);
  const CheckpointState end = state_at(8);
  EXPECT_GE(end.loss_scaler.skipped, 1);
  EXPECT_EQ(end.loss_scaler.not_finite, 0);
  EXPECT_EQ(end.loss_scaler.scale, std::ldexp(1.0, 32 - static_cast<int>(end.loss_scaler.skipped)));
  EXPECT_EQ(end.passed_over, end.loss_scaler.skipped);
  EXPECT_THAT(script.served, SizeIs(8 + end.loss_scaler.skipped));
  EXPECT_EQ(end.samples, 8 * spec_.training.batch.global) << "what was passed over was not trained on";
  EXPECT_EQ(metric("train/skipped_steps").at(8), static_cast<double>(end.loss_scaler.skipped));
  const auto rates = metric("train/learning_rate");
  EXPECT_THAT(rates, SizeIs(8));
  for (std::int64_t step = 1; step <= 8; ++step)
    EXPECT_EQ(rates.at(step), learning_rate(spec_.training.schedule, spec_.training.optimizer.lr, step));
  for (const auto& [step, norm] : metric("train/grad_norm")) EXPECT_TRUE(std::isfinite(norm)) << step;
  EXPECT_TRUE(std::ranges::all_of(weights, [](float weight) { return std::isfinite(weight); }));
  const auto saved = [&](std::int64_t step) {
    return SafetensorsFile(checkpoints() / checkpoint_name(step) / part_name(0))
        .read_floats("weights/bert.embeddings.word_embeddings.weight");
  };
  EXPECT_NE(saved(1), saved(8)) << "later steps move the weights";
  EXPECT_THAT(warnings(), SizeIs(0)) << "a scale that finds its place is nothing to worry about";
}

// Stopped and started again where batches had been passed over, it ends with the same bits.
TEST_P(TrainerIn, ARunWithBatchesPassedOverResumesToTheBit) {
  spec_.training.schedule.steps = 12;
  Script unbroken{.poison = {{kTrainedLength, 4}, {kTrainedLength, 5}}};
  const std::vector<float> expected = run_elsewhere(unbroken);
  const std::size_t all = unbroken.served.size();
  ASSERT_GE(all, 14U);
  Script broken{.poison = unbroken.poison, .stop_before = all - 6};
  run(broken);
  EXPECT_EQ(told<FinishedEvent>().back().status, "preempted");
  broken.served.pop_back();  // served but not trained on
  broken.stop_before = ~std::size_t{0};
  EXPECT_EQ(run(broken), expected);
  EXPECT_EQ(broken.served, unbroken.served);
}

// As if the data did not hold them: the same weights as a run that never met them.
TEST_P(TrainerWithoutLossScale, ABatchThatIsNotFiniteIsPassedOver) {
  Script script{.poison = {{kTrainedLength, 3}, {kTrainedLength, 4}}};
  const std::vector<float> weights = run(script);
  EXPECT_EQ(script.served, numbers({1, 2, 3, 4, 5, 6, 7}));
  Script without{.missing = script.poison};
  EXPECT_EQ(weights, run_elsewhere(without));
  EXPECT_EQ(state_at(5).samples, 5 * spec_.training.batch.global);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("step 3"), HasSubstr("step 3")));
  EXPECT_EQ(metric("train/skipped_steps"), (std::map<std::int64_t, double>{{3, 2}, {4, 2}, {5, 2}}));
  EXPECT_EQ(told<FinishedEvent>().back().status, "succeeded");
}

constexpr auto kByPrecision = [](const auto& instance) { return std::string(to_string(instance.param)); };
INSTANTIATE_TEST_SUITE_P(All, TrainerIn, testing::Values(Precision::fp32, Precision::bf16, Precision::fp16),
                         kByPrecision);
INSTANTIATE_TEST_SUITE_P(All, TrainerWithoutLossScale, testing::Values(Precision::fp32, Precision::bf16),
                         kByPrecision);

// Every restart used to die on the same batch.
TEST_F(TrainerOf, ARestartDoesNotMeetAPassedOverBatchAgain) {
  Script script{.poison = {{kTrainedLength, 3}}, .stop_before = 4};
  run(script);
  EXPECT_EQ(script.served, numbers({1, 2, 3, 4, 5}));
  EXPECT_EQ(state_at(3).passed_over, 1);
  script.served.clear();
  script.stop_before = ~std::size_t{0};
  run(script);
  EXPECT_EQ(script.served, numbers({5, 6}));
}

// Rank 0 waits for the other one in every step, and the other one waits for nobody: by its own clock it would
// find the target reached after the first step, save and leave, while rank 0 trained on.
TEST_F(TrainerOf, ATargetOnThroughputEndsAllRanksAtTheSameStep) {
  spec_.target = TargetSpec{"train/sequences_per_second", 20, std::nullopt};
  spec_.training.batch = {8, 2};  // so that each step takes rank 0 at least 8 / 20 s
  spec_.checkpoint.every = 0;
  spec_.evaluate.every = 1;
  const ParallelLayout layout{.data = 2};
  std::array<std::int64_t, 2> steps{};
  run_threads(2, [&](Communicator& world) {
    Script script{.idle = std::chrono::milliseconds(world.rank() == 1 ? 1000 : 0)};
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, layout);
    const auto model = make_model(context, spec_.model, {}, groups);
    const SystemClock clock;
    EventLog events(events_path().string() + std::to_string(world.rank()), clock);
    const TaskSource source{
        spec_.model.vocab, {1, 0, "0123456789abcdef"}, {}, [&](const TrainingSpec& phase) {
          return std::make_unique<MadeUpTask>(spec_.model, phase, script);
        }};
    Trainer trainer(spec_, {checkpoints(), world.rank() == 0},
                    {context, world, groups, *model, source, events, script.stop,
                     [](ParameterStore&) { return FirstWeights(); }});
    trainer.run();
    steps[static_cast<std::size_t>(world.rank())] = trainer.step();
  });
  EXPECT_THAT(steps, ElementsAre(5, 5));
}

TEST_F(TrainerOf, TooManyInARowEndAsDivergedAtTheirStep) {
  Script script;
  for (std::int64_t number = 3; number < 100; ++number) script.poison.emplace(kTrainedLength, number);
  try {
    run(script);
    FAIL() << "trained";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::diverged);
    EXPECT_THAT(failure.what(), HasSubstr("at step 3"));
  }
  EXPECT_THAT(script.served, SizeIs(2 + kMostNotFiniteInARow + 1));
}

// It "succeeded" without a step.
TEST_F(TrainerOf, ARunThatGoesOnFromAnothersEndNeedsStepsOfItsOwn) {
  Script script;
  run_elsewhere(script);
  const std::filesystem::path other = folder_.path() / "elsewhere" / "checkpoints";
  for (const std::int64_t steps : {5, 3}) {
    spec_.training.schedule.steps = steps;
    try {
      run(script, other);
      FAIL() << "trained";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
      EXPECT_THAT(failure.what(), HasSubstr("until the training ends after step 5"));
    }
  }
  spec_.training.schedule.steps = 8;
  script.served.clear();
  run(script, other);
  EXPECT_EQ(script.served, numbers({6, 7, 8}));
  EXPECT_THAT(told<NoteEvent>().at(0).message, HasSubstr("the learning rate follows this one's schedule"));
}

// It told "beginning anew" and went on from the other job's checkpoint.
TEST_F(TrainerOf, ARunThatGoesOnFromAnothersCheckpointDoesNotSayThatItBeginsAnew) {
  Script script;
  run_elsewhere(script);
  run(script);
  for (const std::string& name : checkpoints_in(checkpoints()))
    std::filesystem::remove(checkpoints() / name / part_name(0));
  spec_.checkpoint.begin_anew = true;
  spec_.training.schedule.steps = 8;
  script.served.clear();
  run(script, folder_.path() / "elsewhere" / "checkpoints");
  EXPECT_EQ(script.served, numbers({6, 7, 8}));
  EXPECT_THAT(warnings(), Not(testing::Contains(HasSubstr("beginning anew"))));
}

TEST_F(TrainerOf, ARunThatBeginsAnewSaysSo) {
  Script script;
  run(script);
  for (const std::string& name : checkpoints_in(checkpoints()))
    std::filesystem::remove(checkpoints() / name / part_name(0));
  spec_.checkpoint.begin_anew = true;
  run(script);
  EXPECT_THAT(warnings(), testing::Contains(HasSubstr("no checkpoint is whole: beginning anew")));
}

// What was wrong with newer checkpoints was not told where the run could not go on from an older one.
TEST_F(TrainerOf, ARunThatCannotGoOnHasToldWhichCheckpointsItPassedOver) {
  Script script;
  run(script);
  std::filesystem::remove(checkpoints() / checkpoint_name(5) / part_name(0));
  spec_.training.seed = 7;
  EXPECT_THROW(run(script), Failure);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr(checkpoint_name(5))));
}

class TrainerInPhases : public TrainerOf {
 protected:
  TrainerInPhases() {
    spec_.training.schedule = {.steps = 4, .warmup = 0, .decay = Decay::constant};
    spec_.training.phases = {{spec_.training.schedule, 2e-2, spec_.training.batch, kTrainedLength + 8, 0}};
  }
};

TEST_F(TrainerInPhases, APhasesDataBeginAnewWhateverWasPassedOverBefore) {
  Script script{.poison = {{kTrainedLength, 2}, {kTrainedLength + 8, 1}}};
  run(script);
  std::vector<Batch> expected = numbers({1, 2, 3, 4, 5});
  for (const std::int64_t number : {1, 2, 3, 4, 5}) expected.emplace_back(kTrainedLength + 8, number);
  EXPECT_EQ(script.served, expected);
  EXPECT_EQ(state_at(8).passed_over, 1);
  EXPECT_EQ(state_at(8).loss_scaler.skipped, 2);
}

// The update that was taken, against Kingma and Ba's formula with `counted` steps, of the parameters that
// decay leaves alone: for them LAMB's is Adam's.
void expect_step(const std::filesystem::path& checkpoints, std::int64_t step, std::int64_t counted,
                 const OptimizerSpec& spec, double rate) {
  const SafetensorsFile before(checkpoints / checkpoint_name(step - 1) / part_name(0));
  const SafetensorsFile after(checkpoints / checkpoint_name(step) / part_name(0));
  const double rest1 = 1 - std::pow(spec.beta1, counted), rest2 = 1 - std::pow(spec.beta2, counted);
  int compared = 0;
  for (const auto& [name, tensor] : after.tensors()) {
    if (!name.starts_with("weights/") || !name.ends_with(".bias")) continue;
    const std::string parameter = name.substr(name.find('/') + 1);
    const auto old = before.read_floats(name), now = after.read_floats(name);
    const auto m = after.read_floats("first_moment/" + parameter);
    const auto v = after.read_floats("second_moment/" + parameter);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double move = rate * (m[i] / rest1) / (std::sqrt(v[i] / rest2) + spec.epsilon);
      EXPECT_NEAR(now[i], old[i] - move, 1e-3 * std::abs(move) + 1e-7) << name << " " << i;
      compared += std::abs(move) > 1e-4;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST_F(TrainerInPhases, AdamWsBiasCorrectionCountsTheStepsOfAllPhases) {
  Script script{.poison = {{kTrainedLength, 2}}};
  run(script);
  for (const std::int64_t step : {2, 4, 5, 8})
    expect_step(checkpoints(), step, step, spec_.training.optimizer, step > 4 ? 2e-2 : 1e-2);
}

// As NVIDIA's recipe for BERT, which sets the optimizer's step to zero for phase 2.
TEST_F(TrainerInPhases, LambsBiasCorrectionBeginsAnewWithEachPhase) {
  spec_.training.optimizer.name = OptimizerKind::lamb;
  Script script;
  run(script);
  for (const std::int64_t step : {2, 4, 5, 8})
    expect_step(checkpoints(), step, step > 4 ? step - 4 : step, spec_.training.optimizer,
                step > 4 ? 2e-2 : 1e-2);
}

}  // namespace
}  // namespace podium
