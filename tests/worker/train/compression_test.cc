// Training for inference in 8 bits and with pruned weights: what the loop keeps in checkpoints, what it
// prunes, and that nothing of either is lost when a run is stopped.
#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>

#include "tests/worker/comm/world.h"
#include "tests/worker/train/trainer_fixture.h"
#include "worker/data/failure.h"
#include "worker/formats/safetensors.h"
#include "worker/nn/activation_ranges.h"
#include "worker/nn/layer_products.h"
#include "worker/train/pruning.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

constexpr char kProductWeight[] = "bert.encoder.layer.1.output.dense.weight";
constexpr char kHeadWeight[] = "cls.predictions.transform.dense.weight";

bool is_minus_zero(float value) { return value == 0 && std::signbit(value); }

class Compressed : public TrainerOf {
 protected:
  std::vector<float> saved(std::int64_t step, const std::string& tensor) const {
    return SafetensorsFile(checkpoints() / checkpoint_name(step) / part_name(0)).read_floats(tensor);
  }
  // Where a weight is pruned.
  std::vector<bool> pruned(std::int64_t step, const std::string& weight) const {
    std::vector<bool> found;
    for (const float value : saved(step, "weights/" + weight)) found.push_back(is_minus_zero(value));
    return found;
  }
  // Of the weights that the run begins with.
  std::vector<bool> smaller_two(const std::string& weight) const {
    test::LoneModel lone(spec_.model, {});
    const ParameterStore& store = lone.model->parameters();
    const std::span<const float> values = store.weights(*store.find(weight));
    std::vector<bool> smaller;
    for (std::size_t i = 0; i < values.size(); ++i) {
      int larger = 0;
      for (std::size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j)
        larger += std::abs(values[j]) > std::abs(values[i]) ? 1 : 0;
      smaller.push_back(larger >= 2);
    }
    return smaller;
  }
  void stop_and_go_on() {
    spec_.training.schedule.steps = 8;
    Script unbroken;
    const std::vector<float> expected = run_elsewhere(unbroken);
    for (const std::size_t served : {0U, 3U, 2U}) {
      Script broken{.stop_before = served};
      run(broken);
      EXPECT_EQ(told<FinishedEvent>().back().status, "preempted");
    }
    Script rest;
    EXPECT_EQ(run(rest), expected);
  }
};

class Pruned : public Compressed, public testing::WithParamInterface<std::tuple<OptimizerKind, Precision>> {
 protected:
  Pruned() {
    spec_.training.sparse = Sparsity::two_of_four;
    spec_.training.optimizer.name = std::get<0>(GetParam());
    spec_.training.precision = std::get<1>(GetParam());
  }
};

TEST_P(Pruned, OfEachFourTheTwoSmallerAreZeroThroughout) {
  Script script;
  run(script);
  const std::vector<bool> smaller = smaller_two(kProductWeight);
  for (const std::int64_t step : {1, 5}) {
    EXPECT_EQ(pruned(step, kProductWeight), smaller);
    for (const char* state : {"first_moment/", "second_moment/"}) {
      const std::vector<float> moments = saved(step, std::string(state) + kProductWeight);
      for (std::size_t i = 0; i < smaller.size(); ++i) EXPECT_EQ(moments[i] == 0, smaller[i]) << state << i;
    }
  }
  EXPECT_NE(saved(1, std::string("weights/") + kProductWeight),
            saved(5, std::string("weights/") + kProductWeight));
  EXPECT_THAT(pruned(5, kHeadWeight), Each(false)) << "inference does not prune it";
}

TEST_P(Pruned, AStoppedRunGoesOnToTheSameBits) { stop_and_go_on(); }

INSTANTIATE_TEST_SUITE_P(All, Pruned,
                         testing::Combine(testing::Values(OptimizerKind::adamw, OptimizerKind::lamb),
                                          testing::Values(Precision::fp32, Precision::bf16)),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) + "_" +
                                  std::string(to_string(std::get<1>(instance.param)));
                         });

TEST(PruneTwoOfFour, KeepsTheFirstOfEqualsAndLeavesKeptZerosAlive) {
  ParameterStore store;
  store.add({.name = "product", .shape = {2, 8}, .prunable = true});
  store.add("other", {1, 4}, Initializer::normal, true);
  store.allocate();
  const std::vector<float> before{1, -3, 2, -3, 0, -0.0F, 0, 0, 5, 5, 5, 5, -1, 2, 0, -0.5F};
  std::ranges::copy(before, store.weights().begin());
  store.weights(*store.find("other"))[2] = 7;
  const std::int64_t generation = store.generation();
  prune_two_of_four(store);
  const std::vector<float> expected{-0.0F, -3, -0.0F, -3,    0,  0, -0.0F, -0.0F,
                                    5,     5,  -0.0F, -0.0F, -1, 2, -0.0F, -0.0F};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(store.weights()[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << i;
  EXPECT_EQ(store.weights(*store.find("other"))[2], 7);
  EXPECT_FALSE(is_minus_zero(store.weights(*store.find("other"))[0]));
  EXPECT_GT(store.generation(), generation);
}

class Quantised : public Compressed {
 protected:
  Quantised() { spec_.training.quantise = QuantiseSpec{}; }
};

TEST_F(Quantised, CheckpointsKeepTheRangesByProduct) {
  Script script;
  run(script);
  const QuantisedInputs first = state_at(1).quantised, last = state_at(5).quantised;
  EXPECT_EQ(first.format, QuantiseFormat::int8);
  EXPECT_THAT(first.ranges, SizeIs(product_count(spec_.model)));
  EXPECT_THAT(first.ranges, testing::Contains(Pair(product_name(spec_.model, 6), testing::Gt(0.0F))));
  EXPECT_NE(first.ranges, last.ranges);
  EXPECT_EQ(parse_manifest(manifest_text({state_at(5), {{part_name(0), {}}}})).state.quantised, last);
}

TEST_F(Quantised, AStoppedRunGoesOnToTheSameBits) { stop_and_go_on(); }

TEST_F(Quantised, AlsoPrunedAndInFewerBits) {
  spec_.training.sparse = Sparsity::two_of_four;
  spec_.training.precision = Precision::fp16;  // which passes batches over, at first
  spec_.training.quantise->format = QuantiseFormat::fp8;
  stop_and_go_on();
}

TEST_F(Quantised, ABatchThatIsPassedOverMovesNoRange) {
  Script script{.poison = {{kTrainedLength, 3}, {kTrainedLength, 4}}};
  const std::vector<float> weights = run(script);
  const QuantisedInputs ranges = state_at(5).quantised;
  Script without{.missing = script.poison};
  EXPECT_EQ(weights, run_elsewhere(without));
  folder_name_ = "elsewhere";
  EXPECT_EQ(state_at(5).quantised, ranges);
}

TEST_F(Quantised, ItBeginsWithTheRangesThatItIsGiven) {
  spec_.training.quantise->range_decay = 0;  // the last step's alone
  spec_.training.schedule = {.steps = 1, .warmup = 0};
  Script script;
  run(script);
  const float reach = state_at(1).quantised.ranges.at(product_name(spec_.model, 0));
  spec_.training.quantise->range_decay = 0.5;
  first_ranges_ = [this] {
    return std::vector<float>(static_cast<std::size_t>(product_count(spec_.model)), 40.0F);
  };
  Script given;
  run_elsewhere(given);
  folder_name_ = "elsewhere";
  EXPECT_FLOAT_EQ(state_at(1).quantised.ranges.at(product_name(spec_.model, 0)), 0.5F * 40 + 0.5F * reach);
}

// The folder may differ from node to node.
TEST_F(Quantised, AllRanksBeginWithTheRangesThatTheFirstOneReads) {
  std::array<std::vector<float>, 2> ranges;
  run_threads(2, [&](Communicator& world) {
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, {.data = 2});
    const auto model = make_model(context, spec_.model, {.quantise = spec_.training.quantise}, groups);
    Compression compression(spec_, context, world, *model);
    compression.begin([&] {
      return std::vector<float>(static_cast<std::size_t>(product_count(spec_.model)),
                                3.0F + static_cast<float>(world.rank()));
    });
    ranges[static_cast<std::size_t>(world.rank())] = model->ranges()->averages();
  });
  EXPECT_THAT(ranges[0], Each(3.0F));
  EXPECT_EQ(ranges[1], ranges[0]);
}

TEST_F(Quantised, ACheckpointWithoutOneOfItsRangesIsRefused) {
  Script script;
  run(script);
  const auto path = checkpoints() / checkpoint_name(5) / kManifestName;
  CheckpointManifest manifest = read_manifest(checkpoints() / checkpoint_name(5));
  manifest.state.quantised.ranges.erase(product_name(spec_.model, 2));
  write_file_atomic(path, manifest_text(manifest));
  spec_.training.schedule.steps = 5;
  try {
    run(script);
    FAIL() << "went on";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::bad_data);
    EXPECT_THAT(failure.what(), HasSubstr("no range of the inputs of " + product_name(spec_.model, 2)));
  }
}

TEST_F(Quantised, AnotherFormatIsAnotherRun) {
  Script script;
  run(script);
  spec_.training.quantise->ranges = "calibrated";  // only for a run that begins
  EXPECT_NO_THROW(run(script));
  spec_.training.quantise->format = QuantiseFormat::fp8;
  EXPECT_THROW(run(script), Failure);
  spec_.training.quantise.reset();
  EXPECT_THROW(run(script), Failure);
}

// Each rank trains on other sequences, and rounds by the same ranges.
TEST_F(Quantised, DataRanksKeepTheSameRangesAndWeights) {
  spec_.training.sparse = Sparsity::two_of_four;
  spec_.training.batch = {8, 2};
  const ParallelLayout layout{.data = 2};
  std::array<std::vector<float>, 2> weights, ranges;
  run_threads(2, [&](Communicator& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    Script script;
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, layout);
    const auto model = make_model(context, spec_.model, {.quantise = spec_.training.quantise}, groups);
    const SystemClock clock;
    EventLog events(events_path().string() + std::to_string(rank), clock);
    const TaskSource source{
        spec_.model.vocab, {1, 0, "0123456789abcdef"}, {}, [&](const TrainingSpec& phase) {
          return std::make_unique<MadeUpTask>(spec_.model, phase, script, 100 * rank);
        }};
    Trainer trainer(spec_, {checkpoints(), rank == 0},
                    {context, world, groups, *model, source, events, script.stop, [](ParameterStore& store) {
                       test::randomise(store, 7);
                       return FirstWeights();
                     }});
    trainer.run();
    weights[rank].assign(model->parameters().weights().begin(), model->parameters().weights().end());
    ranges[rank] = model->ranges()->averages();
  });
  EXPECT_THAT(ranges[0], AllOf(SizeIs(product_count(spec_.model)), Each(Ge(0.0F))));
  EXPECT_EQ(ranges[0], ranges[1]);
  EXPECT_EQ(weights[0], weights[1]);
}

}  // namespace
}  // namespace podium
