// An optimizer names its states, and checkpoints follow them, be they none, one or three.
#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/store.h"
#include "worker/comm/single_communicator.h"
#include "worker/formats/safetensors.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

constexpr std::int64_t kRows = 300, kColumns = 151;  // more than one chunk
const OptimizerSpec kSpec{.lr = 0.5};

// Adds the gradients to its first state, twice them to the second, and so on.
class Summing final : public Optimizer {
 public:
  Summing(ParameterStore& parameters, const std::vector<std::string>& states, Context& context)
      : Optimizer({kSpec, parameters, {{0, parameters.end()}}, nullptr, context}, states),
        count_(states.size()) {}

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
  explicit Trained(const std::vector<std::string>& states) {
    parameters.add({.name = "weight", .shape = Shape{kRows, kColumns}});
    parameters.allocate();
    optimizer.emplace(parameters, states, context);
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
