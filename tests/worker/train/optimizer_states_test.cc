// An optimizer names its states, and checkpoints follow them, be they none, one or three, whole or in shards.
#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/store.h"
#include "worker/comm/single_communicator.h"
#include "worker/formats/safetensors.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

constexpr std::int64_t kRows = 300, kColumns = 151;  // more than one chunk
constexpr int kDataRanks = 2;
const OptimizerSpec kSpec{.lr = 0.5};

// Adds the gradients to its first state, twice them to the second, and so on.
class Summing final : public Optimizer {
 public:
  Summing(Parts parts, const std::vector<std::string>& states)
      : Optimizer(std::move(parts), states), count_(states.size()) {}

 private:
  void update_chunks(const OptimizerShard& shard, const Rates& rates,
                     const BeforeChange& before_change) override {
    for (const OptimizerChunk& chunk : chunks_) {
      about_to_change(shard, chunk, before_change);
      for (std::int64_t i = 0; i < chunk.count; ++i) {
        float& gradient = shard.gradients[chunk.begin + i];
        for (std::size_t s = 0; s < count_; ++s)
          shard.states[s][chunk.states + i] += static_cast<float>(s + 1) * gradient;
        shard.weights[chunk.begin + i] -= rates.learning_rate * std::exchange(gradient, 0.0F);
      }
    }
  }

  std::size_t count_;
};

struct Trained {
  // With `groups` the data ranks share the states.
  explicit Trained(const std::vector<std::string>& states, const ParallelGroups* groups = nullptr) {
    parameters.add({.name = "weight", .shape = Shape{kRows, kColumns}});
    parameters.allocate(16 * kDataRanks);
    std::vector<FlatRange> shard{{0, parameters.end()}};
    if (groups != nullptr) shard = GradientReducer(*groups->data, parameters.gradients(), 3000, true).shard();
    optimizer.emplace(Optimizer::Parts{kSpec, parameters, std::move(shard), groups, context}, states);
  }

  void update(const BeforeChange& before_change = nullptr) {
    for (std::size_t i = 0; i < parameters.gradients().size(); ++i)
      parameters.gradients()[i] = static_cast<float>(i % 7);
    optimizer->update(parameters, 1, kSpec.lr, 1, before_change);
  }
  CheckpointTensors tensors() { return {parameters, optimizer->states(), optimizer->shard()}; }
  std::vector<std::vector<float>> values() {
    std::vector<std::vector<float>> all{{parameters.weights().begin(), parameters.weights().end()}};
    for (const auto& [name, state] : optimizer->states()) all.emplace_back(state.begin(), state.end());
    return all;
  }

  Context context;
  ParameterStore parameters;
  std::optional<Summing> optimizer;
};

class OptimizerStates : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OptimizerStates, AreSavedBesideAnUpdateAndRead) {
  const TempFolder folder;
  SingleCommunicator alone;
  CheckpointStore checkpoints({folder.path(), true}, 1, alone, {});
  Trained saving(GetParam());
  saving.update();
  const std::vector<std::vector<float>> saved = saving.values();
  checkpoints.begin_save({.step = 1}, saving.tensors());
  saving.update(checkpoints.before_update());
  checkpoints.finish();

  const auto checkpoint = folder.path() / checkpoint_name(1);
  const SafetensorsFile file(checkpoint / part_name(0));
  EXPECT_EQ(file.tensors().size(), 1 + GetParam().size());
  for (const std::string& name : GetParam()) EXPECT_TRUE(file.tensors().contains(name + "/weight"));
  Trained loaded(GetParam());
  read_tensors(checkpoint, read_manifest(checkpoint), loaded.tensors());
  EXPECT_TRUE(loaded.values() == saved);
  EXPECT_FALSE(saving.values() == saved);
}

TEST_P(OptimizerStates, OfShardsAreReadWhole) {
  const TempFolder folder;
  run_threads(kDataRanks, [&](Communicator& world) {
    const ParallelGroups groups = make_groups(world, {.data = kDataRanks});
    CheckpointStore checkpoints({folder.path(), world.rank() == 0}, 1, world, groups.layout);
    Trained saving(GetParam(), &groups);
    EXPECT_FALSE(saving.optimizer->updates_all());
    saving.update();
    checkpoints.begin_save({.step = 1}, saving.tensors());
    saving.update(checkpoints.before_update());
    checkpoints.finish();
  });
  const auto checkpoint = folder.path() / checkpoint_name(1);
  Trained loaded(GetParam()), alone(GetParam());
  read_tensors(checkpoint, read_manifest(checkpoint), loaded.tensors());
  alone.update();
  EXPECT_TRUE(loaded.values() == alone.values());
}

INSTANTIATE_TEST_SUITE_P(Named, OptimizerStates,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"velocity"},
                                         std::vector<std::string>{"average", "best", "slow"}));

TEST(OptimizerStates, OneThatTheCheckpointLacksIsRefused) {
  const TempFolder folder;
  SingleCommunicator alone;
  CheckpointStore checkpoints({folder.path(), true}, 1, alone, {});
  Trained saving({"velocity"}), other({"velocity", "average"});
  checkpoints.begin_save({.step = 1}, saving.tensors());
  checkpoints.finish();
  const auto checkpoint = folder.path() / checkpoint_name(1);
  try {
    read_tensors(checkpoint, read_manifest(checkpoint), other.tensors());
    FAIL() << "a state that was not saved was read";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("average/weight"));
  }
}

}  // namespace
}  // namespace podium
