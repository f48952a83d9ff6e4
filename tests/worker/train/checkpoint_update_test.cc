// An optimizer's update right after a save has begun, when nearly nothing is on the disk yet.
#include <gtest/gtest.h>

#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/store.h"
#include "worker/comm/single_communicator.h"
#include "worker/tensor/random.h"
#include "worker/train/gradient_reducer.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

// Of 3 million elements: 36 MB on disk. With groups the optimizer is cut over the data ranks, and each update
// ends with the weights of all of them.
struct Trained {
  explicit Trained(OptimizerKind kind, const ParallelGroups* groups = nullptr)
      : context{.threads = groups == nullptr ? 2 : 1} {
    for (int i = 0; i < 6; ++i) {
      const std::string name = "layer." + std::to_string(i);
      store.add({.name = name + ".weight", .shape = Shape{500, 1000}});
      store.add({.name = name + ".bias", .shape = Shape{500}, .decay = false});
    }
    store.allocate(32);
    store.initialise(1, 0.02);
    const OptimizerSpec spec{.name = kind, .lr = 0.01};
    if (groups == nullptr) {
      optimizer = make_optimizer(spec, store, context);
    } else {
      reducer = std::make_unique<GradientReducer>(*groups->data, store.gradients(), 1 << 20, true);
      optimizer = make_optimizer(spec, store, reducer->shard(), *groups, context);
    }
  }

  void update(int step, const BeforeChange& before_change = nullptr) {
    Random random(2, static_cast<std::uint64_t>(step));
    for (float& g : store.gradients()) g = static_cast<float>(random.below(2000)) / 1000 - 1;
    if (reducer) {
      reducer->ready(0, static_cast<std::int64_t>(store.gradients().size()));
      reducer->finish();
    }
    optimizer->update(store, step, 0.01, 0.5, before_change);
    if (reducer) reducer->gather(store.weights());
  }
  CheckpointTensors tensors() { return {store, optimizer->states(), optimizer->shard()}; }
  std::vector<std::vector<float>> values() {
    std::vector<std::vector<float>> all{{store.weights().begin(), store.weights().end()}};
    for (const auto& [name, state] : optimizer->states()) all.emplace_back(state.begin(), state.end());
    return all;
  }

  Context context;
  ParameterStore store;
  std::unique_ptr<GradientReducer> reducer;
  std::unique_ptr<Optimizer> optimizer;
};

class UpdateBesideASave : public testing::TestWithParam<OptimizerKind> {};

void expect_no_harm(OptimizerKind kind, const TempFolder& folder, Communicator& world,
                    const ParallelLayout& layout, const ParallelGroups* groups) {
  CheckpointStore checkpoints({folder.path(), world.rank() == 0}, 9, world, layout);
  Trained saving(kind, groups), undisturbed(kind, groups);
  std::vector<std::vector<std::vector<float>>> saved;
  for (int step = 1; step <= 5; ++step) {
    saving.update(step, checkpoints.before_update());
    undisturbed.update(step);
    saved.push_back(saving.values());
    CheckpointState state;
    state.step = step;
    checkpoints.begin_save(state, saving.tensors());
  }
  saving.update(6, checkpoints.before_update());
  undisturbed.update(6);
  checkpoints.finish();
  EXPECT_TRUE(saving.values() == undisturbed.values());
  for (int step = 1; step <= 5; ++step) {
    const auto checkpoint = folder.path() / checkpoint_name(step);
    Trained loaded(kind, groups);
    read_tensors(checkpoint, read_manifest(checkpoint), loaded.tensors());
    EXPECT_TRUE(loaded.values() == saved[static_cast<std::size_t>(step - 1)]) << "step " << step;
  }
}

TEST_P(UpdateBesideASave, ChangesNeitherWhatIsSavedNorWhatIsLearnt) {
  const TempFolder folder;
  SingleCommunicator alone;
  expect_no_harm(GetParam(), folder, alone, {}, nullptr);
}

// Each rank saves its part of the weights, while the others' parts come in beside it.
TEST_P(UpdateBesideASave, OfAnOptimizerThatIsCutOverRanksChangesNeitherEither) {
  const TempFolder folder;
  const ParallelLayout layout{.data = 2};
  run_threads(2, [&](Communicator& world) {
    const ParallelGroups groups = make_groups(world, layout);
    expect_no_harm(GetParam(), folder, world, layout, &groups);
  });
}

INSTANTIATE_TEST_SUITE_P(Optimizers, UpdateBesideASave,
                         testing::Values(OptimizerKind::adamw, OptimizerKind::lamb),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium
